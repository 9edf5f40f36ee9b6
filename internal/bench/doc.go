// Command bench measures Tuval against what it could be and writes
// docs/benchmarks.md with its charts.
//
//	go run ./internal/bench            # everything, about ten minutes
//	go run ./internal/bench -short     # everything, two seconds a cell
//	go run ./internal/bench -only raw,ways
//	go run ./internal/bench -out /tmp/bench
//
// It starts a private PostgreSQL of its own that writes to the disk like one in
// production (fsync on), and a private Redis where redis-server is installed.
// Nothing of it is a test: figures depend on the machine and on what else it
// does, so they are compared within one run, in turns, and never fail a build.
//
// # Sections
//
// A section is one file with one function that measures and returns its part
// of the document (see sections in main.go). Each part stands between markers
// in docs/benchmarks.md, with its own machine, commit and date, so that one can
// be measured anew without the others. To add one, write the function and its
// line in the list.
package main
