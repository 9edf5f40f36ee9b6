// Package config turns the environment into checked settings. It is the only
// place that knows the names of environment variables, and it reads them
// through a function it is given, so a test needs no environment.
//
// It promises: every setting has one default and one line of help, written
// where it is read; an empty value means "not set"; what is wrong or missing
// is reported all at once, by name; a value that is not wanted is never half
// used. Secrets (keys, passwords, addresses that hold one) are of type Secret
// and say "redacted" when printed, logged or encoded.
//
// Each consumer gets its own small struct and sees nothing else.
package config
