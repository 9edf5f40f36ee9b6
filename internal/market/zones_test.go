package market_test

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tuval/internal/market"
	"tuval/internal/rental"
	"tuval/internal/testdb"
)

// zoneLife is set for the process that lives one life after the other in a
// time zone: its name is that of the database's connections.
const zoneLife = "TUVAL_TEST_ZONE_LIFE"

// T01: over both changes of the clock and near midnight, in any zone of the
// process and of the database, all instants are the same, also in mails.
func TestLifeIsTheSameInEveryZone(t *testing.T) {
	t.Parallel()
	server, err := url.Parse(testdb.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	server.Path = "/postgres"
	zones := []string{"UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata"}
	told := map[string]string{}
	for i, zone := range zones {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLivesInAZone$", "-test.v")
		cmd.Env = append(os.Environ(), "TZ="+zone, zoneLife+"="+zones[(i+1)%len(zones)], "TUVAL_TEST_DATABASE_URL="+server.String())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", zone, err, out)
		}
		var lines []string
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "told ") {
				lines = append(lines, line)
			}
		}
		if told[zone] = strings.Join(lines, ""); len(lines) < 30 {
			t.Fatalf("%s: only %d lines\n%s", zone, len(lines), out)
		}
	}
	for _, zone := range zones {
		if told[zone] != told["UTC"] {
			t.Errorf("told differently in %s:\n%s\nand in UTC:\n%s", zone, told[zone], told["UTC"])
		}
	}
}

// TestLivesInAZone is the life in one zone, as a process of its own.
func TestLivesInAZone(t *testing.T) {
	zone := os.Getenv(zoneLife)
	if zone == "" {
		t.Skip("run by TestLifeIsTheSameInEveryZone")
	}
	w := newWorld(t, options{frozen: true, zone: zone})
	var there string
	w.must(w.pool.QueryRow(w.ctx(), `SHOW timezone`).Scan(&there))
	local, err := time.LoadLocation(os.Getenv("TZ"))
	w.must(err)
	winter := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	if here := winter.Local().Format(time.DateTime); there != zone || here != winter.In(local).Format(time.DateTime) {
		t.Fatalf("the database is in %s, the process at %s", there, here)
	}
	w.exec(`ALTER TABLE payments ALTER created_at SET DEFAULT clock.now()`)
	for i, start := range []string{"2027-03-22T11:00:00Z", "2027-10-25T10:00:00Z", "2027-03-13T23:59:59.999999Z"} {
		at, err := time.Parse(time.RFC3339Nano, start)
		w.must(err)
		for j, n := range []int{1, 2, 52} {
			w.lifeFrom(at, n, i, j)
		}
	}
}

// lifeFrom is bought and approved at an instant, and lives to its end.
func (w *world) lifeFrom(at time.Time, n, x, y int) {
	b := w.buyer()
	w.stop(at)
	r := b.paid(rect(10*x, 10*y, 2, 2), n)
	_, err := w.decide(b.submit(r.Key, 10*x+y), true)
	w.must(err)
	end := at.Add(time.Duration(n) * 168 * time.Hour)
	w.lasts(r.Key, at, end)
	if r = w.rental(r.Key); !r.ApproveBy.Equal(at.Add(720 * time.Hour)) {
		w.t.Errorf("approve by %v", r.ApproveBy)
	}
	for _, s := range []struct {
		at    time.Time
		state rental.State
	}{
		{end.Add(-time.Microsecond), rental.Live},
		{end, rental.Ended},
		{end.Add(48*time.Hour - time.Microsecond), rental.Ended},
		{end.Add(48 * time.Hour), rental.Closed},
	} {
		w.stop(s.at)
		b.sees(r.Key, s.state)
		_, err := b.m.Extend(w.ctx(), b.who, r.Key, market.More{Weeks: 99})
		w.tell(r.Key, fmt.Sprint(err))
		if s.state == rental.Ended {
			w.must(w.m.Settle(w.ctx(), r.ID))
			w.must(w.m.Remind(w.ctx(), r.ID, "12 hours to renew"))
		}
	}
	w.must(w.m.Settle(w.ctx(), r.ID))
	w.state(r.Key, rental.Closed, rental.NotRenewed)
	rows, err := w.pool.Query(w.ctx(), `SELECT subject || E'\n' || text_body FROM mails WHERE rental_id = $1 ORDER BY id`, int64(r.ID))
	w.must(err)
	for rows.Next() {
		var text string
		w.must(rows.Scan(&text))
		w.tell(r.Key, text)
	}
	w.must(rows.Err())
}

// tell prints what people read, without the keys.
func (w *world) tell(key, text string) {
	w.t.Helper()
	text = strings.NewReplacer(key, "KEY", w.offerOf(key, 0).PaymentKey, "PAYMENT").Replace(text)
	for line := range strings.Lines(text) {
		fmt.Println("told", strings.TrimSpace(line))
	}
}
