package market_test

import (
	"strings"
	"testing"
	"time"

	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/market"
)

func request(caller, key string, r grid.Rect) market.Request {
	return market.Request{Scope: "hold", Caller: caller, Key: key, Body: r}
}

// Twenty copies of one request at one instant are one hold, and each has its
// answer.
func TestCopiesOfOneRequestAreOneHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 24})
	b, ms := w.buyer(), w.processes(20, options{})
	r := rect(3, 3, 6, 4)
	for round := range 2 {
		held := make([]market.Held, 20)
		errs := w.rush(20, func(i int) (err error) {
			held[i], err = ms[i].Hold(w.ctx(), b.who, r, request("caller", "request-"+string(rune('a'+round)), r))
			return err
		})
		if won := winners(t, errs); len(won) != 20 {
			t.Fatalf("%d of 20 were answered", len(won))
		}
		for _, h := range held {
			if h != held[0] {
				t.Fatalf("two answers: %+v and %+v", held[0], h)
			}
		}
		if n := w.count(`SELECT count(*) FROM rentals`); n != round+1 {
			t.Errorf("round %d: %d holds", round, n)
		}
	}
	w.settled()
	w.sound()
	w.noDeadlocks()
}

// The same for people whom nobody knows: a copy must not lose to the first.
func TestCopiesOfAStrangersRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 24})
	who, ms := market.Who{Address: []byte("somewhere")}, w.processes(20, options{})
	r := rect(3, 3, 6, 4)
	held := make([]market.Held, 20)
	errs := w.rush(20, func(i int) (err error) {
		held[i], err = ms[i].Hold(w.ctx(), who, r, request("network", "request-1", r))
		return err
	})
	won := winners(t, errs)
	for _, i := range won {
		if held[i] != held[won[0]] {
			t.Errorf("two answers: %+v and %+v", held[won[0]], held[i])
		}
	}
	if n := w.count(`SELECT count(*) FROM persons`); len(won) != 20 || n != 1 {
		t.Errorf("%d of 20 were answered, %d persons were made", len(won), n)
	}
}

func TestRequestsAreRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	r := rect(3, 3, 6, 4)
	hold := func(b buyer, caller, key string, r grid.Rect) (market.Held, error) {
		return w.m.Hold(w.ctx(), b.who, r, request(caller, key, r))
	}
	first, err := hold(a, "a", "request-1", r)
	w.must(err)
	w.must(a.cancel(first.Key))
	again, err := hold(a, "a", "request-1", r) // also when things have moved on since
	w.must(err)
	if again != first {
		t.Errorf("%+v, then %+v", first, again)
	}
	_, err = hold(a, "a", "request-1", rect(4, 3, 6, 4))
	if f := w.wants(err, "invalid"); f.Field != "Idempotency-Key" {
		t.Errorf("field %s", f.Field)
	}
	fresh, err := hold(b, "b", "request-1", r) // another caller's key is another key
	w.must(err)

	// A refusal is not remembered.
	_, err = hold(a, "a", "request-2", r)
	w.wants(err, "taken")
	w.must(b.cancel(fresh.Key))
	if _, err := hold(a, "a", "request-2", r); err != nil {
		t.Errorf("a key that only met a refusal: %v", err)
	}

	// After a day the key is new.
	w.exec(`UPDATE requests SET created_at = created_at - interval '24 hours'`)
	if _, err := hold(a, "a", "request-1", rect(30, 30, 2, 2)); err != nil {
		t.Errorf("a key of yesterday: %v", err)
	}
	w.must(w.m.ForgetRequests(w.ctx()))
	if n := w.count(`SELECT count(*) FROM requests`); n != 3 {
		t.Errorf("%d requests are remembered", n)
	}
	w.exec(`UPDATE requests SET created_at = created_at - interval '25 hours'`)
	w.must(w.m.ForgetRequests(w.ctx()))
	if n := w.count(`SELECT count(*) FROM requests`); n != 0 {
		t.Errorf("%d requests are remembered", n)
	}
}

func TestKeysOfRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	for key, ok := range map[string]bool{
		"1234567": false, "12345678": true, strings.Repeat("k", 200): true, strings.Repeat("k", 201): false,
		"with\x00nul": false, "with\ttab": false, "ümlaut-key": false, "!~!~!~!~": true,
	} {
		r := rect(3, 3, 6, 4)
		req := request("a", key, r)
		req.Field = "request_id"
		_, err := w.m.Hold(w.ctx(), b.who, r, req)
		if f := fault.As(err); (err == nil) != ok || !ok && f.Field != "request_id" {
			t.Errorf("%q: %v", key, err)
		}
	}
}

// A copy that comes while the first is at it waits for its answer: it neither
// loses to it nor does it again.
func TestCopyOfAKeepWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(3, 3, 6, 4))
	kept := make([]market.Held, 10)
	errs := w.rush(10, func(i int) (err error) {
		kept[i], err = w.m.Keep(w.ctx(), b.who, h.Key, market.Request{Scope: "keep", Caller: "a", Key: "request-1"})
		return err
	})
	if won := winners(t, errs); len(won) != 10 {
		t.Errorf("%d of 10 were answered", len(won))
	}
	for _, k := range kept {
		if k != kept[0] || !k.LeasedUntil.Equal(h.LeasedUntil.Add(10*time.Minute)) {
			t.Errorf("%+v", k)
		}
	}
}
