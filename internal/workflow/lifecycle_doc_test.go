package workflow_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tuval/internal/creative"
	"tuval/internal/jobs"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// section is the first table under a heading of docs/lifecycle.md: its rows,
// each as its cells joined by " | ".
func section(t *testing.T, heading string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/lifecycle.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("no %q in the document", heading)
	}
	var rows []string
	for line := range strings.Lines(after) {
		switch {
		case strings.HasPrefix(line, "|"):
			rows = append(rows, cells(line))
		case len(rows) > 0 || strings.HasPrefix(line, "#"):
			return rows[2:] // without the head and the line under it
		}
	}
	t.Fatalf("no table under %q", heading)
	return nil
}

func cells(line string) string {
	parts := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return strings.Join(parts, " | ")
}

// agree compares a table of the document with the rows the code makes.
func agree(t *testing.T, heading string, code []string) {
	t.Helper()
	document := section(t, heading)
	for _, row := range code {
		if !slices.Contains(document, row) {
			t.Errorf("%s: the code has %q, the document does not", heading, row)
		}
	}
	for _, row := range document {
		if !slices.Contains(code, row) {
			t.Errorf("%s: the document has %q, the code does not", heading, row)
		}
	}
}

func TestDocumentHasEveryTransition(t *testing.T) {
	var rentals, pictures []string
	for _, a := range rental.Transitions() {
		var why []string
		for _, r := range a.Reasons {
			why = append(why, string(r))
		}
		rentals = append(rentals, fmt.Sprintf("%s | %s | %s | %s", a.From, a.To, strings.Join(why, ", "), a.Why))
	}
	for _, a := range creative.Transitions() {
		pictures = append(pictures, fmt.Sprintf("%s | %s | %s", a.From, a.To, a.Why))
	}
	agree(t, "## Rental", rentals)
	agree(t, "## Picture", pictures)
	agree(t, "## Payment", arrows(payment.Transitions()))
	agree(t, "### Refund", arrows(payment.RefundTransitions()))
	agree(t, "### Dispute", arrows(payment.DisputeTransitions()))
}

func arrows[S ~string](all []payment.Transition[S]) []string {
	var rows []string
	for _, a := range all {
		rows = append(rows, fmt.Sprintf("%s | %s | %s", a.From, a.To, a.Why))
	}
	return rows
}

// What time does stands under Deadlines, and the machine has an arrow for it.
func TestDocumentHasEveryDeadline(t *testing.T) {
	due := at(day)
	var code []string
	for _, r := range []struct {
		of       rental.Rental
		deadline string
	}{
		{rental.Rental{State: rental.Held, LeasedUntil: due}, "lease"},
		{rental.Rental{State: rental.Paying, LeasedUntil: due}, "lease"},
		{rental.Rental{State: rental.Paid, ApproveBy: due}, "approval"},
		{rental.Rental{State: rental.Paid, LiveFrom: due, ApproveBy: at(2 * day)}, "go-live"},
		{rental.Rental{State: rental.Live, EndsAt: due}, "end"},
		{rental.Rental{State: rental.Ended, LeasedUntil: due}, "lease"},
		{rental.Rental{State: rental.Closed}, ""},
	} {
		move, moves := r.of.Next(*at(day))
		if moves == (r.deadline == "") {
			t.Errorf("%s: moves %v", r.of.State, moves)
		}
		if !moves {
			continue
		}
		to := rental.Rental{State: move.To}
		then := string(move.To)
		if move.Reason != "" {
			to.ClosedReason, then = &move.Reason, then+": "+string(move.Reason)
		}
		if !rental.May(r.of, to) {
			t.Errorf("time moves %s to %s, and the machine has no such arrow", r.of.State, then)
		}
		code = append(code, string(r.of.State)+" | "+r.deadline+" | "+then)
	}
	var document []string
	for _, row := range section(t, "## Deadlines") {
		c := strings.Split(row, " | ")
		then, _, _ := strings.Cut(c[3], ",")
		document = append(document, c[0]+" | "+c[1]+" | "+then)
	}
	if !slices.Equal(code, document) {
		t.Errorf("the code has %q\nthe document %q", code, document)
	}
}

func TestDocumentHasEveryRetry(t *testing.T) {
	var code []string
	for kind, p := range jobs.Kinds() {
		code = append(code, fmt.Sprintf("%s | %s | %d | %s | %s | %s", kind, p.Queue, p.Attempts, short(p.Gap), short(p.Max), short(lasts(p))))
	}
	agree(t, "## Jobs", code)
	if len(code) != len(slices.Collect(maps.Keys(jobs.Kinds()))) {
		t.Error("kinds are missing")
	}
}

// lasts is how long a job is tried, its gaps taken without what varies.
func lasts(p jobs.Policy) time.Duration {
	sum, gap := time.Duration(0), p.Gap
	for range p.Attempts - 1 {
		sum += min(gap, p.Max)
		gap = min(2*gap, p.Max)
	}
	switch {
	case sum > 2*time.Hour:
		return sum.Round(5 * time.Minute)
	case sum > 2*time.Minute:
		return sum.Round(time.Minute)
	}
	return sum
}

// short writes a duration without zeros at its end.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
