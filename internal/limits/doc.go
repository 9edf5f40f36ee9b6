// Package limits says whose request it is, by network address, and how many
// requests that one may make.
//
// ClientAddress believes forwarding headers of our own proxies only, and of
// the chain of hops only the right-most one that is not ours: whatever stands
// further left may have been written by the visitor. Network widens an IPv6
// address to its /64, the least that is handed to one customer. Key is what
// is stored and compared in place of an address: no address is kept anywhere.
//
// Rates are counted in memory, a process for itself: they protect a process
// from being kept busy, so N processes let N times as much through. Everything
// that protects buyers from each other (holds, blocks, capacity) is counted in
// PostgreSQL, elsewhere. A rate is a token bucket (golang.org/x/time/rate): it
// allows short bursts, and it knows exactly when the next request may come,
// which is told to the client.
package limits
