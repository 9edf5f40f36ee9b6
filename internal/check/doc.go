// Package check proves that the database is sound: every invariant of the
// market is one query that returns a line for each violation, all of them in
// one REPEATABLE READ snapshot, true at every instant, under traffic and with
// jobs late.
//
// Run judges all of it; Structure leaves out what depends on workers being
// there: overdue deadlines and jobs that must exist. Tests run Structure on
// every database they touched.
package check
