// Package payment is one purchase of weeks for a rental, and the refunds of
// its money.
//
//	open --asynchronous--> processing --> paid | failed
//	  +--> paid | expired | failed        a late payment: expired | failed --> paid
//
// Every outside call carries an idempotency key that is stored in the row
// before the call. Money that arrived is recorded whatever became of the
// rental: Outcome says whether its weeks were given (applied) or it goes back
// whole (returned). Nothing is ever deleted. An open payment whose page the
// buyer gave up for another is marked before Stripe is told (EndedAt).
//
// Stripe is authoritative for whether money moved, the row for what we made
// of it.
package payment
