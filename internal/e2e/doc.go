// Package e2e holds the tests that drive all of Tuval in a browser: the server of
// package app with workers and payment simulator on a database of its own, and a
// headless Chromium that does what people do.
//
// It owns no code, only tests, and promises what they promise: that the ways of
// buyers, visitors and admins can be gone from end to end, with a mouse, with keys
// alone, with a finger and without scripts; that two people never both get a place;
// that going back, pressing twice and losing the network do no harm; that the pages
// keep their security policy, their budgets and the accessibility rules.
//
// Every test fails for anything that a page says on the console, for each violation
// of the Content-Security-Policy, each failed or foreign request and each answer of
// 400 and above that it did not name beforehand, and for every error in the
// server's log. Nothing waits for a length of time: only for what is to happen.
//
// The tests need a Chromium ("make test" installs it). Without one they are skipped,
// but on a continuous-integration machine (CI is set) they fail.
package e2e
