// Package app puts the parts together into a running Tuval: database, market,
// workers, payment simulator, web server; it starts them in order, says where
// the site is, and stops them in the opposite order.
package app
