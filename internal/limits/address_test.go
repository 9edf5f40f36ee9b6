package limits_test

import (
	"bytes"
	"net/http"
	"net/netip"
	"testing"

	"tuval/internal/limits"
)

func TestOnlyOurProxiesAreBelieved(t *testing.T) {
	ours := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		why, peer string
		headers   []string // name, value, ...
		want      string
		alarm     bool
	}{
		{"a plain visitor", "203.0.113.9:1234", nil, "203.0.113.9", false},
		{"a visitor over IPv6", "[2001:db8::9%eth0]:1234", nil, "2001:db8::9", false},
		{"a mapped address", "[::ffff:203.0.113.9]:1", nil, "203.0.113.9", false},
		{"a visitor who passes for another", "203.0.113.9:1", []string{"X-Forwarded-For", "198.51.100.1"}, "203.0.113.9", true},
		{"other spellings of the same", "203.0.113.9:1", []string{"Forwarded", "for=198.51.100.1"}, "203.0.113.9", true},
		{"an empty header is one too", "203.0.113.9:1", []string{"X-Real-Ip", ""}, "203.0.113.9", true},
		{"a proxy nobody told us about", "192.0.2.1:1", []string{"X-Forwarded-Proto", "https"}, "192.0.2.1", true},
		{"our proxy", "10.0.0.1:1", []string{"X-Forwarded-For", "203.0.113.9"}, "203.0.113.9", false},
		{"two of ours", "10.0.0.1:1", []string{"X-Forwarded-For", "203.0.113.9, 10.0.0.2"}, "203.0.113.9", false},
		{"two of ours in two headers", "10.0.0.1:1", []string{"X-Forwarded-For", "203.0.113.9", "X-Forwarded-For", "10.0.0.2"}, "203.0.113.9", false},
		{"a visitor who wrote hops", "10.0.0.1:1", []string{"X-Forwarded-For", "198.51.100.1, 10.0.0.7, 203.0.113.9"}, "203.0.113.9", false},
		{"hops with ports", "[fd00::1]:1", []string{"X-Forwarded-For", "[2001:db8::9]:443, 10.0.0.3:80"}, "2001:db8::9", false},
		{"brackets without a port", "10.0.0.1:1", []string{"X-Forwarded-For", "[2001:db8::9]"}, "2001:db8::9", false},
		{"nonsense before a hop of ours", "10.0.0.1:1", []string{"X-Forwarded-For", "unknown, 10.0.0.2"}, "10.0.0.2", false},
		{"nonsense only", "10.0.0.1:1", []string{"X-Forwarded-For", "\x00"}, "10.0.0.1", false},
		{"our proxy asks itself", "10.0.0.1:1", nil, "10.0.0.1", false},
		{"from inside", "10.0.0.1:1", []string{"X-Forwarded-For", "10.9.9.9"}, "10.9.9.9", false},
		{"no peer", "", nil, "invalid IP", false},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := &http.Request{RemoteAddr: c.peer, Header: http.Header{}}
			for i := 0; i < len(c.headers); i += 2 {
				r.Header.Add(c.headers[i], c.headers[i+1])
			}
			got, alarm := limits.ClientAddress(r, ours)
			if got.String() != c.want || alarm != c.alarm {
				t.Errorf("is %s, alarm %v; want %s, %v", got, alarm, c.want, c.alarm)
			}
			if proxied := len(c.headers) > 0; limits.Forwarded(r) != proxied {
				t.Errorf("forwarded: %v", !proxied)
			}
		})
	}
}

func TestANetworkIsOneVisitor(t *testing.T) {
	for a, want := range map[string]string{
		"203.0.113.9": "203.0.113.9/32", "::ffff:203.0.113.9": "203.0.113.9/32", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
	} {
		if got := limits.Network(netip.MustParseAddr(a)).String(); got != want {
			t.Errorf("%s is of %s, want %s", a, got, want)
		}
	}
	if limits.Network(netip.Addr{}).IsValid() {
		t.Error("an unknown address has a network")
	}
}

func TestAKeyStandsForTheNetworkAndHidesIt(t *testing.T) {
	key := func(secret, a string) []byte { return limits.Key([]byte(secret), netip.MustParseAddr(a)) }
	one := key("s", "2001:db8::1")
	if len(one) != 32 || !bytes.Equal(one, key("s", "2001:db8::ffff")) {
		t.Error("one network has two keys")
	}
	if bytes.Equal(one, key("s", "2001:db8:0:1::1")) || bytes.Equal(one, key("t", "2001:db8::1")) {
		t.Error("two networks or two secrets have one key")
	}
	if limits.Key([]byte("s"), netip.Addr{}) == nil {
		t.Error("an unknown address has no key")
	}
}

func FuzzClientAddress(f *testing.F) {
	f.Add("10.0.0.1:1", "203.0.113.9, 10.0.0.2")
	f.Fuzz(func(t *testing.T, peer, hops string) {
		r := &http.Request{RemoteAddr: peer, Header: http.Header{"X-Forwarded-For": {hops}}}
		trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		client, alarm := limits.ClientAddress(r, trusted)
		if alarm && client.IsValid() && trusted[0].Contains(client) {
			t.Errorf("an alarm about our own proxy %s", client)
		}
		limits.Key(nil, client)
	})
}
