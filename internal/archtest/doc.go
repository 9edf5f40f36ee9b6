// Package archtest holds the tests that keep the layout of the code: what may
// import what, which packages are pure, who may read the environment or the
// clock.
//
// The rules are data, in rules_test.go; a package that is in none of the rows
// fails the test. Add it there, to the lowest row that works, and to docs that
// show the picture.
//
// The facts come from "go list" and from the syntax of the files, so the rules
// hold for what is written, on every platform, whether it compiles or not.
package archtest
