// Package signin mails sign-in links and takes them back: the one way in which
// a browser becomes an account.
//
// It promises that nobody learns from an answer whether a rental exists or
// whose it is, that a link and its mail are made in one transaction, and that
// a link works once and only when it is sent back by a POST.
package signin
