// Package market is what people do with the canvas, one file a verb: hold,
// keep, cancel, check out, pay, submit, approve, reject, block. It owns the
// transactions; below it, the aggregates own their rows and the turnstile
// owns the blocks.
//
// Every verb runs the same way: what can be judged without locks is judged
// first; then one short transaction locks in the order below, decides by
// conditional statements, and leaves its ledger events, jobs and mails at the
// end (effects). Stripe is only ever called between transactions, with a key
// that was stored in the one before.
//
// Lock order, for everything: request row, person and address, rentals by id,
// their payments, refunds and creatives, blocks by (y, x), ledger and jobs.
// Whoever may take blocks that are not its own reads plainly whose they are,
// locks its own rental and all that it displaces together, and asks the
// turnstile for the union in one pass; if the owners changed meanwhile it
// starts over.
//
// Time moves rentals in one place only: settle.
package market
