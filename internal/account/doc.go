// Package account knows who somebody is: persons and the accounts they become
// when an address is confirmed, mailed sign-in links, admins, their passwords
// and their API tokens. (Who a browser is at the moment is package session's.)
//
// Persons. A person is a browser session or an API caller; one with an address
// is an account. An address is confirmed by a POST with a link that was mailed
// to it, and by nothing else: SignIn then puts into the account the rentals
// with that contact address and those that the same browser made before. A
// rental that is in an account stays there.
//
//	link:  mailed --Use (POST, within 15 min)--> used
//	          \_ 15 min _ over
//
// Links and tokens are 32 random bytes, shown once. The database keeps their
// SHA-256, which is enough against whoever reads the database since nobody can
// search 2^256 tokens. Passwords people chose are hashed with argon2id, two at
// a time in a process, for each try needs tens of megabytes.
//
// The database's clock decides what is over. Admin addresses and links answer
// the same, in words and in time, whether or not an address is known.
package account
