package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"tuval/internal/telemetry"
)

func TestFactsRideInTheContext(t *testing.T) {
	var b bytes.Buffer
	log := telemetry.Logger(&b, "json", "info").With("role", "web")
	ctx := telemetry.With(t.Context(), slog.String("request", "r1"), slog.Int("rental", 1))
	ctx = telemetry.With(ctx, slog.Int("rental", 7))
	log.InfoContext(ctx, "held", "blocks", 24)
	log.DebugContext(ctx, "not shown")
	var line map[string]any
	if err := json.Unmarshal(b.Bytes(), &line); err != nil {
		t.Fatalf("%v in %s", err, b.String())
	}
	for key, want := range map[string]any{"msg": "held", "request": "r1", "rental": 7.0, "blocks": 24.0, "role": "web"} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
}

func TestWithLeavesTheOuterContextAlone(t *testing.T) {
	outer := telemetry.With(t.Context(), slog.Int("a", 1))
	left, right := telemetry.With(outer, slog.Int("b", 2)), telemetry.With(outer, slog.Int("c", 3))
	for ctx, want := range map[context.Context]string{outer: "a=1\n", left: "a=1 b=2\n", right: "a=1 c=3\n"} {
		var b bytes.Buffer
		telemetry.Logger(&b, "text", "").InfoContext(ctx, "x")
		if !strings.HasSuffix(b.String(), "msg=x "+want) {
			t.Errorf("logged %q, want %q", b.String(), want)
		}
	}
}

// What must not be in a log is taken out wherever it sits.
func TestNothingPrivateIsLogged(t *testing.T) {
	type form struct{ Who, Where string }
	err := fmt.Errorf("mail 7: %w", errors.New(`550 5.1.1 <Bob.Smith+x@mail.example.com>: no such user`))
	addr := netip.MustParseAddr("203.0.113.9")
	for _, format := range []string{"text", "json"} {
		var b bytes.Buffer
		log := telemetry.Logger(&b, format, "debug").With("email", "bob@example.com", "note", "for bob@xn--bcher-kva.example.")
		ctx := telemetry.With(t.Context(), slog.String("token", "abcdef123456"), slog.Any("who", addr))
		log.InfoContext(ctx, "sent to bob@example.com", "err", err, "form", form{"bob@example.com", "x"},
			"header", http.Header{"Cookie": {"abcdef123456"}}, "address", "203.0.113.9", slog.Group("in", "recipient", "bob@b"),
			"url", "postgres://tuval:abcdef123456@db.example/tuval", "key", "sk_live_abcdef123456 whsec_abcdef123456",
			"auth", "Bearer abcdef123456", "path", "/login?token=abcdef123456&x=1", "api", "tuval_admin_abcdef123456")
		log.Error("http: panic serving 203.0.113.9:5555: boom")
		log.Error("http: TLS handshake error from [2001:db8::9]:5555: EOF")
		log.Error("write tcp 127.0.0.1:8080->203.0.113.9:5555: broken pipe")
		for _, private := range []string{"bob", "Bob", "Smith", "abcdef123456", "203.0.113.9", "2001:db8"} {
			if strings.Contains(b.String(), private) {
				t.Errorf("%q is in the log:\n%s", private, b.String())
			}
		}
		for _, useful := range []string{"550 5.1.1", "mail 7", "boom", "broken pipe", "db.example", "127.0.0.1:8080", "x=1"} {
			if !strings.Contains(b.String(), useful) {
				t.Errorf("%q is gone from the log:\n%s", useful, b.String())
			}
		}
	}
}
