package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"tuval/internal/grid"
	"tuval/internal/testdb"
)

// Every load's rects lie on the canvas; disjoint ones are, hot ones are one.
func TestLoads(t *testing.T) {
	t.Parallel()
	for _, l := range loads() {
		owner := map[[2]int]int{}
		for id := claimOf(0, 0); id < claimOf(maxClients, 0); id++ {
			r := l.rect(id)
			if _, err := grid.New(r.X, r.Y, r.W, r.H); err != nil {
				t.Fatalf("%s: %v: %v", l.name, r, err)
			}
			client := int(id-1) / claimsEach
			at := [2]int{r.X, r.Y}
			if was, ok := owner[at]; l.name == "disjoint" && ok && was != client {
				t.Fatalf("%s: clients %d and %d want %v", l.name, was, client, r)
			}
			owner[at] = client
		}
	}
}

// The script for pgbench has none of our parameters left and ends every branch.
func TestPgbenchScript(t *testing.T) {
	t.Parallel()
	for _, l := range loads() {
		s := pgbenchScript(l)
		if strings.Contains(s, "$") || strings.Count(s, "\\if") != strings.Count(s, "\\endif") {
			t.Errorf("%s:\n%s", l.name, s)
		}
	}
}

// One part of the document is replaced, the others stay, in the order of the
// sections.
func TestSplice(t *testing.T) {
	t.Parallel()
	doc := splice("", "ways", "## Ways\n")
	doc = splice(doc, "raw", "## Raw\n")
	again := splice(doc, "ways", "## Ways, anew\n")
	raw, ways := strings.Index(again, "## Raw"), strings.Index(again, "## Ways, anew")
	if raw < 0 || ways < raw || strings.Contains(again, "## Ways\n") || strings.Count(again, "# Benchmarks") != 1 {
		t.Errorf("spliced:\n%s", again)
	}
	if splice(again, "raw", "## Raw\n") != again {
		t.Error("the same part again changes the document")
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", 8.52: "8.5", 12.4: "12", 999.6: "1,000", 1234567: "1,234,567"} {
		if got := thousands(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

// The turnstile comes through a short rush of every kind whole.
func TestMeasureTurnstile(t *testing.T) {
	t.Parallel()
	for _, l := range loads() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			pool := testdb.New(t, testdb.Options{Unchecked: true, MaxConns: 8})
			sql, args := l.insertClaims()
			if _, err := pool.Exec(t.Context(), sql, args...); err != nil {
				t.Fatal(err)
			}
			o, err := newOurs(context.Background(), pool)
			if err != nil {
				t.Fatal(err)
			}
			r := measure(t.Context(), o, l, 8, 300*time.Millisecond)
			if r.err != nil || r.winners == 0 || r.torn != 0 || r.deadlocks != 0 || r.gaveUp != 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}
