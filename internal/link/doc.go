// Package link decides which addresses may stand behind a picture on the
// canvas, and how they are written down.
//
// The rules (limits from the house rules for pictures):
//   - absolute http or https; "example.com/page" is taken as
//     https://example.com/page, since that is what people type;
//   - at most MaxBytes bytes, as typed and as stored;
//   - no user name or password, no backslash, no control character, no
//     invisible character, no blank in the host; a port from 1 to 65535;
//   - the host is a public name: it has a dot, is no address of the reader's
//     own machine or network (localhost, .local, 127.0.0.1, 192.168.0.1 and
//     their like), since such a link leads nowhere for everybody else, or into
//     somebody's router.
//
// What is kept is ASCII throughout: the host in its xn-- form, which is what
// moderators see, everything else percent-encoded, quotes and angle brackets
// included. So no browser can read another host into it than we do, and
// nothing in it can end an attribute. Pages must still escape it.
//
// The server never fetches a link.
//
// The package is pure: no clock, no context, no I/O.
package link
