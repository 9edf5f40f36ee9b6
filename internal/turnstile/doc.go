// Package turnstile decides every race for blocks. Its one primitive: give me
// all of these blocks, only if every one of them is free, else nothing.
//
// Whatever takes, keeps, confirms, extends or frees blocks goes through here;
// admins, renewals and late payments have no second path. The database
// decides, Go only asks, and time is the database's: a lease is over when
// leased_until <= now(), and now() is the beginning of the asking transaction,
// so a transaction that had to wait errs on the side of the present holder.
//
//	Taken    is somebody there? A plain read, before everything else
//	Owners   who is there, running or lapsed: a plain read, before every lock
//	Claim    takes a rect whole, and empties whole whom the caller gives up
//	Extend   moves the end of a lease, of all blocks or none (also: confirms)
//	Release  gives a rect back, all blocks or none
//
// # Promises
//
//  1. All or nothing, for every mixture of rects.
//  2. Among claims for overlapping free rects at least one wins: a claim loses
//     only to one that has committed.
//  3. No deadlock and no serialization failure. A caller meets ErrTaken,
//     ErrMoved, ErrLost, or, after lock_timeout, a fault of kind Unavailable.
//  4. Nobody is displaced silently: blocks whose lease ran out but whose claim
//     is not over yet go only to a caller that names the claim in gives and
//     ends it in the same transaction; then it loses its blocks whole.
//  5. Extend and Release act only for the claim that has the blocks, all of
//     them. What comes late changes nothing and says ErrLost.
//  6. A claim that is not over has exactly the blocks of its rect, with one
//     lease. The database holds this itself (trigger claims_stay_whole).
//  7. No clock but the database's is asked.
//
// # The way of a claim
//
//	caller                               PostgreSQL
//	  |  Taken(rect, own)                    |
//	  |------------------------------------->|  plain read, no locks
//	  |  yes: answer "taken"                 |
//	  |  BEGIN                               |
//	  |  Owners(rect)                        |
//	  |------------------------------------->|  plain read, no locks
//	  |  own, replaced and lapsed claims     |
//	  |------------------------------------->|  row locks, by id
//	  |  Claim(rect, gives)                  |
//	  |------------------------------------->|  for each block by (y, x):
//	  |                                      |    lock, judge, write
//	  |                                      |    alien: undo all, unlock all --> taken, moved
//	  |<-------------------------------------|  won
//	  |  ErrMoved: ROLLBACK, start over      |
//	  |  ledger, jobs, COMMIT                |
//	  |------------------------------------->|
//
// A block is alien when its claim is neither the asking one nor one of gives.
// Alien and running: ErrTaken. Alien and lapsed: its owner is to be displaced,
// and the caller did not know of it: ErrMoved.
//
// The part on the right is three functions in the database (see the migration
// that makes the turnstile). Each writes a rect with one UPDATE whose condition
// ends it at the first block that is not to be had; a subtransaction takes back
// what was written until then and, at once, all locks.
//
// # Why not simpler
//
// The first statement that comes to mind is one UPDATE of the rect whose WHERE
// counts the free blocks in a subquery. Two of them overlap; the second waits
// for the first at a shared block, and then PostgreSQL looks again, but only at
// that block: the subquery still counts what the statement saw when it began,
// when all were free. So the second one goes on and takes the blocks that the
// first did not want, and overwrites those it did: rects are torn. In the
// benchmark this happens to a large part of all winners.
//
// The second is to update what is free, compare the number of rows, and roll
// back when some are missing. That is never torn, but an UPDATE locks blocks in
// the order in which its plan finds them, and two of them find them in two
// orders: by their place in the table, which changes with every write. Under a
// rush claims then wait for each other in circles until PostgreSQL's deadlock
// detector shoots them one by one. It does not help when only claims keep an
// order and releases do not: everybody must.
//
// The third is to lock the rect by SELECT ... ORDER BY y, x FOR UPDATE, judge
// what was locked, and write if all of it is free. That is right, and the
// turnstile's nearest relative. But each block is touched twice, and a loser
// keeps what it locked until its client has heard the answer and sent a
// ROLLBACK, while the queue behind it waits. docs/benchmarks.md has the figures.
//
// What it takes instead: the order of the UPDATE must be sure. The functions
// carry settings that leave PostgreSQL one plan, along the primary key, and a
// test watches which blocks are locked, on a table whose rows lie scattered.
// Should a future version break it, claims would meet deadlocks and say
// "unavailable"; nothing could be sold twice.
//
// Conditions on anything but the place of a block are judged first on the row
// as the statement saw it at its start, and only then, after a wait, on the row
// as it is. A filter would therefore leave out silently what became one's own
// or another's since; so nothing is filtered here: a block either passes or
// ends the attempt.
//
// A single advisory lock for the canvas would be as fast for one hot rect, but
// makes people wait who want different places.
//
// # Lock order
//
// For everything in the product, nobody ever the other way round:
//
//	request row
//	-> person, address
//	-> rentals (and blocked areas), by id, together
//	-> their payments, refunds, creatives
//	-> blocks, by (y, x), the union of all rects in one pass
//	-> capacity counters, by (metric, bucket)
//	-> ledger, jobs
//
// Whoever may take blocks that are not its own first reads plainly whose they
// are; then locks its own claim, those it replaces and those it displaces
// together by id; then calls Claim, once. If the owners turn out to be others
// (ErrMoved) it starts over, at most 5 times, and then answers "unavailable".
// Blocks come late in a transaction, so that others wait for a short end of it.
package turnstile
