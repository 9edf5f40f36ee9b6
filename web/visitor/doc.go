// Package visitor is who asks: what a request shows of itself, gathered once
// and carried in its context. It grants nothing; the market judges who may do
// what.
package visitor
