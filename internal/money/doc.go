// Package money holds amounts as integers in a currency's minor unit, the
// only form in which Tuval stores, compares or sends money, and knows for
// each accepted currency its decimals and the payment provider's limits.
//
// It is pure. A currency that is not in the table is refused at start: an
// amount in a currency of unknown decimals could be wrong by a power of ten.
package money
