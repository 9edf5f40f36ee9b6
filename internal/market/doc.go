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
// Lock order, for everything: request row, person and address, slots of the
// share of the canvas, rentals by id, their payments, refunds and creatives,
// blocks by (y, x), ledger and jobs.
// Whoever may take blocks that are not its own reads plainly whose they are,
// locks its own rental and all that it displaces together, and asks the
// turnstile for the union in one pass; if the owners changed meanwhile it
// starts over.
//
// Time moves rentals in one place only: settle.
//
// What may be believed when things come late, twice or in another order:
//
//   - A payment row is written before Stripe is asked, so an answer that is
//     lost is asked for again under the same key, and money that arrives finds
//     its payment whatever else was lost.
//   - A page is marked as given up before it is expired to make room for
//     another. Stripe's own word about it then does not end the hold.
//   - Money is booked first and judged in the same transaction: it buys the
//     rental if the blocks are its own or all free, else it goes back in full.
//   - A lease that is over stays over, except for money: that may still find
//     the blocks free.
//   - Whatever changes what a visitor sees leaves an event in the ledger;
//     whatever time will change leaves a job for that time.
package market
