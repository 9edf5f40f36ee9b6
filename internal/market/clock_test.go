package market_test

import "time"

// A world with a clock of its own: now() in our statements is found in the
// schema clock before PostgreSQL's, so a test can stand at a deadline to the
// microsecond. Defaults of columns keep PostgreSQL's clock.
func (w *world) installClock() {
	w.t.Helper()
	w.exec(`CREATE SCHEMA clock`)
	w.exec(`CREATE TABLE clock.stopped (at timestamptz NOT NULL)`)
	w.exec(`CREATE FUNCTION clock.now() RETURNS timestamptz LANGUAGE sql STABLE AS
		$$ SELECT COALESCE((SELECT at FROM clock.stopped), pg_catalog.now()) $$`)
}

// stop sets the clock to an instant, where it stays.
func (w *world) stop(at time.Time) {
	w.t.Helper()
	w.exec(`DELETE FROM clock.stopped`)
	w.exec(`INSERT INTO clock.stopped VALUES ($1)`, at)
}

// run lets the clock run again, as PostgreSQL's.
func (w *world) run() {
	w.t.Helper()
	w.exec(`DELETE FROM clock.stopped`)
}
