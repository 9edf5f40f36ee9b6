package testdb

import (
	"os"
	"testing"
	"time"
)

// Soak returns how long the long form of a race may run, for tests with "Soak" in
// their names: TUVAL_TEST_SOAK, which "make soak" sets, else short.
func Soak(t testing.TB, short time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv("TUVAL_TEST_SOAK")
	if text == "" {
		return short
	}
	long, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("TUVAL_TEST_SOAK: %v", err)
	}
	return long
}
