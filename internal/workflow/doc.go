// Package workflow says where a rental stands: its steps from the hold to the
// release of its blocks, with what compensates them, as a graph.
//
//	hold -> pay -> image -> review -> go live -> end -> release
//	         |-> receipt               |-> remind, extend -> end
//	         \-> refund                         end -> renew -> end
//
// It is pure: it reads the stored facts (rows, ledger, jobs) at one instant
// and keeps nothing of its own, so that after any crash the picture is as true
// as the facts are. A step that time has made due is done, whether or not a
// job wrote it down: the rental is given as it is at that instant.
//
// It promises that every graph is acyclic, has each step once, and shows a
// job that gave up at the step that waits for it.
package workflow
