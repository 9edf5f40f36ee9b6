package gateway_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"tuval/internal/fault"
	"tuval/internal/gateway"
)

func signature(payload []byte, secret string, at time.Time) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), payload)
	return hex.EncodeToString(mac.Sum(nil))
}

func header(at time.Time, v1s ...string) string {
	h := fmt.Sprintf("t=%d", at.Unix())
	for _, v := range v1s {
		h += ",v1=" + v
	}
	return h
}

// payload is an event of testdata, with its places filled.
func payload(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/stripe_events.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return []byte(strings.NewReplacer(
		`"{{AMOUNT}}"`, "960000", `"{{PART}}"`, "2000", `"{{METADATA}}"`, `{"payment_id":"our-payment","rental_id":"our-rental"}`,
		"{{SESSION}}", "cs_1", "{{REF}}", "our-payment", "{{PI}}", "pi_1", "{{CHARGE}}", "ch_1", "{{REFUND}}", "re_1",
		"{{CURRENCY}}", "usd", "{{API_VERSION}}", "2031-01-01.future",
	).Replace(string(all[name])))
}

// P09: whoever is genuine is let in, whatever the layout of the body, the API
// version, and which of the configured secrets it was signed with.
func TestVerifyGenuine(t *testing.T) {
	t.Parallel()
	const old, fresh = "whsec_old", "whsec_new"
	now := time.Now()
	plain := payload(t, "completed_paid")
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, plain, "", "  "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteString("\n")
	var fields map[string]any
	if err := json.Unmarshal(plain, &fields); err != nil {
		t.Fatal(err)
	}
	fields["padding"] = strings.Repeat("Zoë 你 ", 200<<10/10)
	long, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		body   []byte
		header string
	}{
		"as usual":             {plain, header(now, signature(plain, fresh, now))},
		"the other secret":     {plain, header(now, signature(plain, old, now))},
		"a wrong v1 first":     {plain, header(now, wrong, signature(plain, fresh, now))},
		"both secrets":         {plain, header(now, signature(plain, old, now), signature(plain, fresh, now))},
		"another scheme too":   {plain, header(now, signature(plain, fresh, now)) + ",v0=" + wrong},
		"pretty-printed":       {pretty.Bytes(), header(now, signature(pretty.Bytes(), fresh, now))},
		"200 kB":               {long, header(now, signature(long, fresh, now))},
		"four minutes old":     {plain, header(now.Add(-4*time.Minute), signature(plain, fresh, now.Add(-4*time.Minute)))},
		"a clock that is fast": {plain, header(now.Add(4*time.Minute), signature(plain, fresh, now.Add(4*time.Minute)))},
	} {
		e, err := gateway.Verify(c.body, c.header, []string{old, fresh})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		o := e.Object
		if e.ID != "evt_a1" || e.Type != "checkout.session.completed" || o.ID != "cs_1" || o.AmountTotal != 960000 || o.Currency != "usd" ||
			o.Reference != "our-payment" || o.Metadata["payment_id"] != "our-payment" || o.Intent != "pi_1" || o.PaymentStatus != "paid" {
			t.Errorf("%s: read as %+v", name, e)
		}
	}
}

func TestVerifyForged(t *testing.T) {
	t.Parallel()
	const secret = "whsec_new"
	now := time.Now()
	body := payload(t, "completed_paid")
	good := signature(body, secret, now)
	changed := bytes.Replace(body, []byte("960000"), []byte("960001"), 1)
	old := now.Add(-10 * time.Minute)
	for name, c := range map[string]struct {
		body   []byte
		header string
	}{
		"no header":            {body, ""},
		"one byte changed":     {changed, header(now, good)},
		"a byte more":          {append(bytes.Clone(body), ' '), header(now, good)},
		"ten minutes old":      {body, header(old, signature(body, secret, old))},
		"an old time stamp":    {body, header(old, good)},
		"another secret":       {body, header(now, signature(body, "whsec_other", now))},
		"no secret":            {body, header(now, signature(body, "", now))},
		"no v1":                {body, header(now)},
		"no time":              {body, "v1=" + good},
		"not hex":              {body, header(now, "zz")},
		"v0 only":              {body, fmt.Sprintf("t=%d,v0=%s", now.Unix(), good)},
		"nonsense":             {body, "=,=,=,,t=t,v1=v1"},
		"signed, but no JSON":  {[]byte("hello"), header(now, signature([]byte("hello"), secret, now))},
		"signed, but no event": {[]byte(`{"id":""}`), header(now, signature([]byte(`{"id":""}`), secret, now))},
	} {
		for _, secrets := range [][]string{{secret}, {"whsec_old", secret}} {
			if _, err := gateway.Verify(c.body, c.header, secrets); fault.As(err).Kind != fault.Malformed {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := gateway.Verify(body, header(now, good), nil); fault.As(err).Kind != fault.Malformed {
		t.Errorf("without a secret: %v", err)
	}
}

// Every event of testdata is read; those that mean nothing here are let in
// without a look at their object.
func TestParse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id, intent string
		handled    bool
	}{
		"completed_paid": {"cs_1", "pi_1", true}, "completed_unpaid": {"cs_1", "pi_1", true}, "async_succeeded": {"cs_1", "pi_1", true},
		"async_failed": {"cs_1", "pi_1", true}, "expired": {"cs_1", "pi_1", true}, "pi_succeeded": {"pi_1", "", true},
		"charge_refunded_partial": {"ch_1", "pi_1", true}, "charge_refunded_full": {"ch_1", "pi_1", true},
		"refund_failed": {"re_1", "pi_1", true}, "refund_updated_failed": {"re_1", "pi_1", true},
		"dispute_created": {"dp_1", "pi_1", true}, "foreign_session": {"cs_not_ours", "pi_not_ours", true}, "unknown_type": {"", "", false},
	} {
		e, err := gateway.Parse(payload(t, name))
		if err != nil || e.Object.ID != c.id || string(e.Object.Intent) != c.intent || gateway.Handled(e.Type) != c.handled {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
	expanded := bytes.Replace(payload(t, "completed_paid"), []byte(`"pi_1"`), []byte(`{"id":"pi_2","object":"payment_intent"}`), 1)
	if e, err := gateway.Parse(expanded); err != nil || e.Object.Intent != "pi_2" {
		t.Errorf("an expanded reference: %+v, %v", e, err)
	}
	absent := bytes.Replace(payload(t, "completed_paid"), []byte(`"pi_1"`), []byte(`null`), 1)
	if e, err := gateway.Parse(absent); err != nil || e.Object.Intent != "" {
		t.Errorf("no reference: %+v, %v", e, err)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte(`{"id":"evt_1","type":"charge.refunded","data":{"object":{"payment_intent":{"id":"pi"}}}}`), "t=1,v1=00")
	f.Add([]byte(`{"id":"evt_1","type":"x","data":{"object":null}}`), "")
	f.Fuzz(func(t *testing.T, body []byte, h string) {
		if _, err := gateway.Verify(body, h, []string{"whsec_a", "whsec_b"}); err == nil {
			t.Error("a forged event was let in")
		}
		now := time.Now()
		e, err := gateway.Verify(body, header(now, signature(body, "whsec_b", now)), []string{"whsec_a", "whsec_b"})
		if err == nil && (e.ID == "" || e.Type == "") {
			t.Errorf("let in without an id: %+v", e)
		}
	})
}

// A refusal tells a wrong clock from a wrong secret, and both from anything
// that is no delivery.
func TestRefusalsHaveReasons(t *testing.T) {
	t.Parallel()
	const known, other = "whsec_known", "whsec_other"
	body := payload(t, "completed_paid")
	now, old := time.Now(), time.Now().Add(-6*time.Minute)
	for name, c := range map[string]struct {
		header        string
		clock, secret bool
	}{
		"late by our clock": {header(old, signature(body, known, old)), true, false},
		"another secret":    {header(now, signature(body, other, now)), false, true},
		"both":              {header(old, signature(body, other, old)), false, false},
		"not signed":        {"", false, false},
		"nonsense":          {"hello", false, false},
	} {
		_, err := gateway.Verify(body, c.header, []string{"whsec_first", known})
		if fault.As(err).Kind != fault.Malformed || errors.Is(err, gateway.ErrClock) != c.clock || errors.Is(err, gateway.ErrSecret) != c.secret {
			t.Errorf("%s: %v", name, err)
		}
	}
}
