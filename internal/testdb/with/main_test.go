package main

import (
	"os"
	"testing"
)

// TestForeground checks that the program's end is told faithfully.
func TestForeground(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -9 $$": 1} {
		code, err := foreground([]string{"/bin/sh", "-c", script}, make(chan os.Signal))
		if code != want || (err != nil) != (script == "kill -9 $$") {
			t.Errorf("%s: code %d, error %v", script, code, err)
		}
	}
	if code, err := foreground([]string{"/no/such/program"}, nil); code != 127 || err == nil {
		t.Errorf("no program: code %d, error %v", code, err)
	}
}

// TestRun checks what the program sees, on a server that it is given.
func TestRun(t *testing.T) {
	t.Setenv(variable, "postgres:///given")
	if code, err := run([]string{"/bin/sh", "-c", `[ "$TUVAL_TEST_DATABASE_URL" = postgres:///given ]`}); code != 0 || err != nil {
		t.Errorf("a server that is given: code %d, error %v", code, err)
	}
	t.Setenv(variable, "")
	if code, err := run([]string{"/bin/sh", "-c", `case $TUVAL_TEST_DATABASE_URL in postgres:///postgres*) exit 3; esac`}); code != 3 || err != nil {
		t.Errorf("a server of its own: code %d, error %v", code, err)
	}
}
