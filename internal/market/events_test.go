package market_test

import (
	"encoding/json"
	"os"
	"strings"

	"tuval/internal/ident"
	"tuval/internal/market"
)

// facts fill the places of an event of testdata.
type facts struct {
	session, ref, intent, charge, refund, currency string
	amount, part                                   int64
	metadata                                       map[string]string
}

// factsOf are those of an offer as Stripe has them, paid or not.
func (w *world) factsOf(o market.Offer) facts {
	w.t.Helper()
	p := w.payment(o)
	var rentalKey string
	w.must(w.pool.QueryRow(w.ctx(), `SELECT key FROM rentals WHERE id = $1`, p.Rental).Scan(&rentalKey))
	f := facts{
		session: deref(p.SessionID), ref: p.Key, currency: p.Amount.Currency, amount: p.Amount.Amount,
		metadata: map[string]string{"payment_id": p.Key, "rental_id": rentalKey}, charge: "ch_1", refund: "re_1",
	}
	w.must(w.pool.QueryRow(w.ctx(), `SELECT COALESCE(payment_intent, 'pi_none_yet') FROM stripesim.sessions WHERE id = $1`, f.session).Scan(&f.intent))
	return f
}

// event makes one of the events of testdata, with an id of its own.
func (w *world) event(name string, f facts) event {
	w.t.Helper()
	raw, err := os.ReadFile("testdata/stripe_events.json")
	w.must(err)
	var all map[string]json.RawMessage
	w.must(json.Unmarshal(raw, &all))
	text, ok := all[name]
	if !ok {
		w.t.Fatalf("no event %s", name)
	}
	metadata, err := json.Marshal(f.metadata)
	w.must(err)
	amount, err := json.Marshal(f.amount)
	w.must(err)
	part, err := json.Marshal(f.part)
	w.must(err)
	filled := strings.NewReplacer(
		`"{{AMOUNT}}"`, string(amount), `"{{PART}}"`, string(part), `"{{METADATA}}"`, string(metadata), "{{SESSION}}", f.session,
		"{{REF}}", f.ref, "{{PI}}", f.intent, "{{CHARGE}}", f.charge, "{{REFUND}}", f.refund, "{{CURRENCY}}", f.currency,
		"{{API_VERSION}}", "2031-01-01.future",
	).Replace(string(text))
	e := event{Raw: json.RawMessage(filled)}
	w.must(json.Unmarshal(e.Raw, &e))
	fresh := "evt_" + ident.New()
	e.Raw = json.RawMessage(strings.Replace(filled, `"`+e.ID+`"`, `"`+fresh+`"`, 1))
	e.ID = fresh
	return e
}

// bring brings events in and works off what comes of them, one after the
// other.
func (w *world) bring(events ...event) {
	w.t.Helper()
	for _, e := range events {
		w.must(w.receive(w.m, e))
		w.settled()
	}
}

// outcome is what was made of an event.
func (w *world) outcome(e event) string {
	w.t.Helper()
	var s string
	w.must(w.pool.QueryRow(w.ctx(), `SELECT COALESCE(outcome, 'not applied') FROM stripe_events WHERE id = $1`, e.ID).Scan(&s))
	return s
}

// mailsOf counts the mails of a kind.
func (w *world) mailsOf(kind string) int {
	w.t.Helper()
	return w.count(`SELECT count(*) FROM mails WHERE kind = $1`, kind)
}

// anomalies counts those of a kind that are not resolved.
func (w *world) anomalies(kind string) int {
	w.t.Helper()
	return w.count(`SELECT count(*) FROM anomalies WHERE kind = $1 AND resolved_at IS NULL`, kind)
}

// lastOf is the last event of a type that Stripe told.
func (w *world) lastOf(kind string) event {
	w.t.Helper()
	w.news()
	for i := len(w.inbox.all) - 1; i >= 0; i-- {
		if w.inbox.all[i].Type == kind {
			return w.inbox.all[i]
		}
	}
	w.t.Fatalf("no event %s", kind)
	return event{}
}

// changed is another event made of one: of another type, if one is named, and
// with other words.
func (w *world) changed(e event, kind string, words ...string) event {
	w.t.Helper()
	fresh := event{ID: "evt_" + ident.New(), Type: kind}
	words = append(words, `"`+e.ID+`"`, `"`+fresh.ID+`"`, `"`+e.Type+`"`, `"`+kind+`"`)
	fresh.Raw = json.RawMessage(strings.NewReplacer(words...).Replace(string(e.Raw)))
	return fresh
}
