package telemetry

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"time"
)

const hidden = "redacted"

// attr takes out of an attribute what must not be in a log.
func (p *scrubber) attr(_ []string, a slog.Attr) slog.Attr {
	if isPrivate(a.Key) {
		return slog.String(a.Key, hidden)
	}
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(p.text(a.Value.String()))
	case slog.KindAny:
		a.Value = p.value(a.Value)
	}
	return a
}

// isPrivate knows attributes by name whose values no pattern would catch.
func isPrivate(key string) bool {
	switch strings.ToLower(key) {
	case "email", "e-mail", "recipient", "password", "secret", "token", "authorization",
		"cookie", "card", "address", "remote_addr", "remote", "peer", "ip":
		return true
	}
	return false
}

func (p *scrubber) value(v slog.Value) slog.Value {
	switch x := v.Any().(type) {
	case error:
		return slog.StringValue(p.text(x.Error()))
	case netip.Addr, netip.Prefix, netip.AddrPort, net.IP, net.Addr, *http.Request, http.Header:
		return slog.StringValue(hidden)
	case time.Time, *slog.Source, nil:
		return v
	default:
		shown := fmt.Sprintf("%+v", x)
		if s := p.text(shown); s != shown {
			return slog.StringValue(s)
		}
		return v
	}
}

// scrubber knows private things by their look.
type scrubber struct{ userinfo, email, key, credential, visitor *regexp.Regexp }

func newScrubber() *scrubber {
	return &scrubber{
		// the user part of a service's address
		userinfo: regexp.MustCompile(`://[^/@\s"']+@`),
		email:    regexp.MustCompile(`[^\s<>"'()\[\],:;=@/]+@[^\s<>"'()\[\],:;=@/]+\.[^\s<>"'()\[\],:;=@/]*[^\s<>"'()\[\],:;=@/.]`),
		// keys of Stripe and tokens of ours
		key:        regexp.MustCompile(`\b(?:(?:sk|rk)_(?:live|test)_|whsec_|tuval_[a-z]+_)[A-Za-z0-9_-]+`),
		credential: regexp.MustCompile(`(?i)(bearer\s+|(?:token|password|secret)=)[^\s&"']+`),
		// a peer as the standard library writes it into its errors
		visitor: regexp.MustCompile(`((?:from|serving|->)\s?)(?:\[[0-9a-fA-F:.%a-z]+\]|\d{1,3}(?:\.\d{1,3}){3}):\d+`),
	}
}

// text replaces what is private in a text.
func (p *scrubber) text(s string) string {
	s = p.userinfo.ReplaceAllString(s, "://")
	s = p.email.ReplaceAllString(s, hidden)
	s = p.key.ReplaceAllString(s, hidden)
	s = p.credential.ReplaceAllString(s, "${1}"+hidden)
	return p.visitor.ReplaceAllString(s, "${1}"+hidden)
}
