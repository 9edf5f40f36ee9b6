package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"tuval/internal/turnstile"
)

// pgbenchScript is what ours does, statement for statement and transaction for
// transaction, in pgbench's language: the limit that a client written in C
// reaches with them.
func pgbenchScript(l load) string {
	s := turnstile.Statements()
	return pgbenchClaim + l.pgbench +
		positional(s["taken"], "y1", "y2", "x1", "x2", "own") + " \\gset\n" +
		"\\if not :taken\n" +
		"BEGIN;\n" +
		// pgbench cannot compare words.
		"SELECT (outcome = 'won')::int AS won FROM (" + positional(s["claim"], "c", "y1", "y2", "x1", "x2", "until") + ") AS c \\gset\n" +
		"\\if :won\n" +
		"COMMIT;\n" +
		"BEGIN;\n" +
		positional(s["release"], "c", "y1", "y2", "x1", "x2") + ";\n" +
		"COMMIT;\n" +
		"\\else\n" +
		"ROLLBACK;\n" +
		"\\endif\n" +
		"\\endif\n"
}

// positional replaces $1, $2 ... by pgbench's variables.
func positional(sql string, names ...string) string {
	return strings.TrimSpace(regexp.MustCompile(`\$(\d+)`).ReplaceAllStringFunc(sql, func(p string) string {
		n, _ := strconv.Atoi(p[1:])
		return ":" + names[n-1]
	}))
}

// pgbench runs the script and returns how many decisions a second it made.
func pgbench(ctx context.Context, binDir, address string, l load, clients int, until time.Time, during time.Duration) (float64, error) {
	dir, err := os.MkdirTemp("", "tuval-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	script := filepath.Join(dir, "claim.sql")
	if err := os.WriteFile(script, []byte(pgbenchScript(l)), 0o600); err != nil {
		return 0, err
	}
	dsn, err := libpq(address)
	if err != nil {
		return 0, err
	}
	// The first second goes into connecting and planning: it is not counted.
	seconds := 1 + max(1, int(during.Seconds()))
	out, err := exec.CommandContext(ctx, filepath.Join(binDir, "pgbench"), "-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", "2",
		"-T", strconv.Itoa(seconds), "-P", "1", "-D", "until="+until.Format(time.RFC3339), "-D", "own={}", "-f", script, dsn).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("pgbench: %w: %s", err, out)
	}
	return progress(string(out), seconds-1)
}

// progress is the mean rate of the seconds after the first one.
func progress(out string, seconds int) (float64, error) {
	lines := regexp.MustCompile(`progress: [0-9.]+ s, ([0-9.]+) tps`).FindAllStringSubmatch(out, -1)
	if len(lines) < seconds || strings.Contains(out, "ERROR") {
		return 0, fmt.Errorf("pgbench: %s", out)
	}
	total := 0.0
	for _, l := range lines[1:] {
		rate, err := strconv.ParseFloat(l[1], 64)
		if err != nil {
			return 0, fmt.Errorf("pgbench: %s", l[0])
		}
		total += rate
	}
	return total / float64(len(lines)-1), nil
}

// libpq writes an address in the form that all of libpq's versions read.
func libpq(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'" }
	q := u.Query()
	return fmt.Sprintf("host=%s port=%s user=%s dbname=%s", quote(q.Get("host")), quote(q.Get("port")), quote(q.Get("user")),
		quote(strings.TrimPrefix(u.Path, "/"))), nil
}
