// Package age moves the whole market into the past, so that a person or a test
// can live through weeks in seconds. It is for development and tests: the
// commands that call it refuse in production.
//
// It moves what deadlines and limits are judged by: leases, dates of rentals,
// payments and refunds, the places of orders in the limits of capacity (whose
// counters are made anew), and when waiting jobs are due. It leaves alone what
// must not be relived: the ledger, finished and running jobs, sign-in sessions,
// remembered requests, and whatever a real payment service knows.
package age
