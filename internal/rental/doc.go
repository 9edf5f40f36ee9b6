// Package rental is the aggregate of the market: one buyer's rect through its
// whole life, from the hold to the day its blocks are free again.
//
//	held --checkout--> paying --payment--> paid --approved, go-live--> live
//	  |                  |                  |                           |
//	  +---- time, cancel, failed payment ---+-- 30 days, refund ---+    | end
//	  v                                                            v    v
//	closed <-------------------- 48 h without renewal ------------ ended
//
// The state machine is a pure table (Next). The database row is authoritative
// for state and dates, package turnstile for who has the blocks; both change
// in one transaction, the rental's row locked first. Reads show what time has
// made of a rental (At) whether or not a job has written it down yet.
package rental
