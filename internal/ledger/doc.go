// Package ledger writes the append-only history of the market.
//
// Every transition appends its events in its own transaction: what happened,
// when it was recorded and when it takes effect, and how many blocks and how
// much money moved. Nothing is ever changed or removed; a correction is a new
// event with the opposite sign. The sums are therefore the blocks that are
// taken and the money that is kept, which package check proves.
package ledger
