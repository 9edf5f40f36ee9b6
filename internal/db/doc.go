// Package db opens PostgreSQL and runs transactions.
//
// It promises: every transaction is READ COMMITTED, named, short by
// lock_timeout and statement_timeout, and rolled back even when its context
// is gone; what PostgreSQL says when it is busy or away becomes a fault of
// kind Unavailable, so no word of the database reaches a person.
//
// Inside a transaction nothing talks to anything but PostgreSQL.
package db
