// Command with runs another program under a PostgreSQL server for tests:
//
//	go run ./internal/testdb/with go test ./...
//
// It starts a fast throw-away server, sets TUVAL_TEST_DATABASE_URL, runs the
// program in the foreground, stops the server and ends with the program's exit
// code. If TUVAL_TEST_DATABASE_URL is set already, that server is used.
package main
