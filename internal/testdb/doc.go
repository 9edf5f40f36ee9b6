// Package testdb gives every test a PostgreSQL database of its own: fresh,
// migrated, and looked over when the test has ended.
//
//	pool := testdb.New(t)              // a database and a pool on it
//	url := testdb.URL(t)               // a database for a process that the test starts
//
// The databases are clones of one template per server, which is migrated once
// and named after the migrations' content. When a test ends, the invariants of
// the product are checked on its database (see invariants.go), and it is dropped.
// Tests may run in parallel: no two share a database.
//
// The server is the one in TUVAL_TEST_DATABASE_URL; "make test" starts one for
// all packages (see the program in ./with). Without the variable each test
// process starts a private one, which ends with the process, however it ends.
// Both run without fsync; tests about crashes ask for [Options.Durable].
package testdb
