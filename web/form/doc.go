// Package form reads what browsers send: forms of a few fields, and uploads of
// one file with a few fields.
//
// It promises that a value which comes out is text (valid UTF-8 without NUL)
// that was sent once, in a body of the right kind and within the limits;
// everything else is a fault that names the field where one is at fault. An
// upload is read as it arrives: a body that is too long is noticed at the
// first byte too many and one that stops coming at the deadline, and nothing
// is ever put on a disk.
//
// Fields that nobody asks for are let through unread: a browser extension that
// adds one breaks no form.
package form
