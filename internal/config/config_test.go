package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tuval/internal/config"
)

func from(m map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := m[name]
		return v, ok
	}
}

// sound is a production environment with nothing wrong.
func sound() map[string]string {
	return map[string]string{
		"TUVAL_ENV": "production", "TUVAL_ADDR": "0.0.0.0:80", "TUVAL_BASE_URL": "https://tuval.example/",
		"TUVAL_SECRET": strings.Repeat("s", 32), "DATABASE_URL": "postgres://u:dbpassword@db/tuval",
		"STRIPE_SECRET_KEY": "sk_live_x", "STRIPE_WEBHOOK_SECRET": "whsec_a, whsec_b", "SMTP_URL": "smtps://u:mailpassword@mx:465",
	}
}

func with(base map[string]string, changes ...string) map[string]string {
	m := maps.Clone(base)
	for i := 0; i < len(changes); i += 2 {
		m[changes[i]] = changes[i+1]
	}
	return m
}

func TestNothingSetIsADevelopmentInstallation(t *testing.T) {
	c, err := config.Load(from(nil))
	if err != nil {
		t.Fatal(err)
	}
	if c.Production() || c.HTTP.BaseURL != "http://127.0.0.1:8080" || !c.HTTP.RateLimits || !c.Stripe.Simulated() || c.Database.DataDir != "var" {
		t.Errorf("the defaults are %+v", c)
	}
	if c.Market.HoldTTL != 10*time.Minute || c.Market.CheckoutLatest() != 49*time.Minute || c.Limits.BlocksPerPerson != 1000 {
		t.Errorf("the rules are %+v, %+v", c.Market, c.Limits)
	}
	if c.Mail.From != "Tuval <no-reply@localhost>" {
		t.Errorf("mails come from %s", c.Mail.From)
	}
}

func TestASoundProductionStarts(t *testing.T) {
	c, err := config.Load(from(sound()))
	if err != nil {
		t.Fatal(err)
	}
	if !c.Stripe.Live || len(c.Stripe.WebhookSecrets) != 2 || c.Stripe.WebhookSecrets[1].Reveal() != "whsec_b" {
		t.Errorf("stripe is %+v", c.Stripe)
	}
	if c.HTTP.BaseURL != "https://tuval.example" || !c.HTTP.Secure() || c.Mail.From != "Tuval <no-reply@tuval.example>" {
		t.Errorf("the site is %+v, mails come from %s", c.HTTP, c.Mail.From)
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	for _, c := range []struct {
		why  string
		env  map[string]string
		want []string
	}{
		{"an unknown kind", with(unset(), "TUVAL_ENV", "prod"), []string{"TUVAL_ENV"}},
		{"production with nothing", map[string]string{"TUVAL_ENV": "production"}, []string{"TUVAL_BASE_URL", "TUVAL_SECRET", "DATABASE_URL", "STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET", "SMTP_URL"}},
		{"a short secret", with(sound(), "TUVAL_SECRET", strings.Repeat("s", 31)), []string{"TUVAL_SECRET"}},
		{"plain http in production", with(sound(), "TUVAL_BASE_URL", "http://tuval.example"), []string{"TUVAL_BASE_URL"}},
		{"rates off in production", with(sound(), "TUVAL_RATE_LIMITS", "off"), []string{"TUVAL_RATE_LIMITS"}},
		{"a foreign Stripe in clear", with(sound(), "STRIPE_API_URL", "http://stripe.example"), []string{"STRIPE_API_URL"}},
		{"commas only", with(sound(), "STRIPE_WEBHOOK_SECRET", " , "), []string{"STRIPE_WEBHOOK_SECRET"}},
		{"a path", with(sound(), "TUVAL_BASE_URL", "https://tuval.example/shop"), []string{"TUVAL_BASE_URL"}},
		{"open development", with(unset(), "TUVAL_ADDR", "0.0.0.0:8080"), []string{"TUVAL_ADDR"}},
		{"all addresses", with(unset(), "TUVAL_ADDR", ":8080"), []string{"TUVAL_ADDR"}},
		{"no port", with(unset(), "TUVAL_ADDR", "127.0.0.1"), []string{"TUVAL_ADDR"}},
		{"a name that anybody can own", with(unset(), "TUVAL_BASE_URL", "http://localhost.example"), []string{"TUVAL_BASE_URL"}},
		{"a live key in development", with(unset(), "STRIPE_SECRET_KEY", "rk_live_1"), []string{"STRIPE_SECRET_KEY"}},
		{"an unknown currency", with(unset(), "TUVAL_CURRENCY", "xyz"), []string{"TUVAL_CURRENCY"}},
		{"a free canvas", with(unset(), "TUVAL_PRICE_PER_PIXEL_WEEK", "0"), []string{"TUVAL_PRICE_PER_PIXEL_WEEK"}},
		{"too dear for one block", with(unset(), "TUVAL_PRICE_PER_PIXEL_WEEK", "1000000"), []string{"TUVAL_PRICE_PER_PIXEL_WEEK"}},
		{"too cheap for all of it", with(unset(), "TUVAL_CURRENCY", "inr", "TUVAL_PRICE_PER_PIXEL_WEEK", "0.5"), []string{"TUVAL_PRICE_PER_PIXEL_WEEK"}},
		{"too short a life", with(unset(), "TUVAL_HOLD_MAX", "50m"), []string{"TUVAL_HOLD_MAX"}},
		{"no duration", with(unset(), "TUVAL_HOLD_TTL", "10", "TUVAL_RENEWAL_WINDOW", "-1h", "TUVAL_APPROVAL_WINDOW", "100000h"), []string{"TUVAL_HOLD_TTL", "TUVAL_APPROVAL_WINDOW", "TUVAL_RENEWAL_WINDOW"}},
		{"no share", with(unset(), "TUVAL_MAX_HELD_SHARE", "NaN"), []string{"TUVAL_MAX_HELD_SHARE"}},
		{"no count", with(unset(), "TUVAL_MAX_BLOCKS", "10001", "TUVAL_HOLD_MINUTES", "0"), []string{"TUVAL_MAX_BLOCKS", "TUVAL_HOLD_MINUTES"}},
		{"no network", with(unset(), "TUVAL_TRUSTED_PROXIES", "10.0.0.0/8, proxy"), []string{"TUVAL_TRUSTED_PROXIES"}},
		{"no mail server", with(unset(), "SMTP_URL", "mail.example:25"), []string{"SMTP_URL"}},
		{"no database", with(unset(), "DATABASE_URL", "mysql://x"), []string{"DATABASE_URL"}},
		{"half an admin", with(unset(), "TUVAL_ADMIN_EMAIL", "a@example.com"), []string{"TUVAL_ADMIN_PASSWORD"}},
		{"the other half", with(unset(), "TUVAL_ADMIN_PASSWORD", "long enough"), []string{"TUVAL_ADMIN_EMAIL"}},
		{"a bad admin", with(unset(), "TUVAL_ADMIN_EMAIL", "nobody", "TUVAL_ADMIN_PASSWORD", "short"), []string{"TUVAL_ADMIN_EMAIL", "TUVAL_ADMIN_PASSWORD"}},
		{"odd words", with(unset(), "TUVAL_LOG", "xml", "TUVAL_LOG_LEVEL", "loud", "TUVAL_MIGRATE", "1"), []string{"TUVAL_MIGRATE", "TUVAL_LOG", "TUVAL_LOG_LEVEL"}},
		{"no sender", with(unset(), "TUVAL_MAIL_FROM", "Tuval"), []string{"TUVAL_MAIL_FROM"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := config.Load(from(c.env))
			if got := names(err); !slices.Equal(got, c.want) {
				t.Errorf("named %v, want %v\n%v", got, c.want, err)
			}
		})
	}
}

func unset() map[string]string { return map[string]string{} }

func names(err error) []string {
	var e *config.Error
	if !errors.As(err, &e) {
		return nil
	}
	var all []string
	for _, p := range e.Problems {
		all = append(all, p.Name)
	}
	return all
}

func TestAnEmptyValueIsNotSet(t *testing.T) {
	env := map[string]string{}
	for _, s := range config.Settings() {
		env[s.Name] = " "
	}
	if _, err := config.Load(from(env)); err != nil {
		t.Errorf("blank values are refused: %v", err)
	}
}

func TestShortTimesAreWelcome(t *testing.T) {
	c, err := config.Load(from(map[string]string{
		"TUVAL_HOLD_TTL": "1s", "TUVAL_HOLD_MAX": "4s", "TUVAL_CHECKOUT_TTL": "2s", "TUVAL_CHECKOUT_GRACE": "1s",
		"TUVAL_APPROVAL_WINDOW": "1ms", "TUVAL_RENEWAL_WINDOW": "1ms", "TUVAL_RECONCILE_EVERY": "1s", "TUVAL_MATCH_WINDOW": "250ms",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if c.Market.CheckoutLatest() != time.Second || c.Market.MatchWindow != 250*time.Millisecond {
		t.Errorf("the times are %+v", c.Market)
	}
}

func TestProxiesAreNetworks(t *testing.T) {
	c, err := config.Load(from(map[string]string{"TUVAL_TRUSTED_PROXIES": "10.1.2.3/8, ::ffff:192.0.2.1,fd00::1"}))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(c.HTTP.TrustedProxies); got != "[10.0.0.0/8 192.0.2.1/32 fd00::1/128]" {
		t.Errorf("trusted are %s", got)
	}
}

func TestAToolNeedsTheDatabaseOnly(t *testing.T) {
	env := map[string]string{"TUVAL_ENV": "production", "DATABASE_URL": "postgres://db/tuval"}
	if _, err := config.LoadTool(from(env)); err != nil {
		t.Errorf("a tool is refused: %v", err)
	}
	delete(env, "DATABASE_URL")
	if _, err := config.LoadTool(from(env)); !slices.Equal(names(err), []string{"DATABASE_URL"}) {
		t.Errorf("without a database: %v", err)
	}
}

func TestSecretsAreNeverShown(t *testing.T) {
	env := with(sound(), "TUVAL_ADMIN_EMAIL", "a@example.com", "TUVAL_ADMIN_PASSWORD", "adminpassword")
	c, err := config.Load(from(env))
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("settings", "c", c, "key", c.Stripe.Key)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("settings", "c", c, "key", c.Stripe.Key)
	j, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	hidden := struct{ c config.Config }{c}
	shown := fmt.Sprintf("%v %+v %#v %s %q %x %d %+v %#v", c, c, c, c.Secret, c.Stripe.Key, c.Secret, c.Secret, hidden, hidden) + log.String() + string(j)
	for _, secret := range []string{env["TUVAL_SECRET"], "dbpassword", "sk_live_x", "whsec_", "mailpassword", "adminpassword", fmt.Sprintf("%x", "ssss")} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q is shown", secret)
		}
	}
	if !strings.Contains(string(j), `"redacted"`) {
		t.Errorf("JSON reads %s", j)
	}
}

// A value that is wrong may hold a password: no message repeats one.
func TestMessagesRepeatNoSecret(t *testing.T) {
	_, err := config.Load(from(map[string]string{
		"DATABASE_URL": "http://u:hushhush@db", "SMTP_URL": "http://u:hushhush@mx", "STRIPE_API_URL": "ftp://u:hushhush@s",
		"TUVAL_BASE_URL": "http://u:hushhush@localhost", "TUVAL_SECRET": "hushhush", "TUVAL_ADMIN_EMAIL": "x", "TUVAL_ADMIN_PASSWORD": "hush",
		"STRIPE_SECRET_KEY": "sk_live_hushhush",
	}))
	if err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("the message is %v", err)
	}
}

func TestSettingsAreDescribedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range config.Settings() {
		if seen[s.Name] || s.Help == "" {
			t.Errorf("%+v is described twice or not at all", s)
		}
		seen[s.Name] = true
	}
	for _, name := range strings.Fields(`TUVAL_ADDR TUVAL_BASE_URL TUVAL_ENV DATABASE_URL TUVAL_DATA_DIR TUVAL_SECRET
		STRIPE_SECRET_KEY STRIPE_WEBHOOK_SECRET STRIPE_API_URL SMTP_URL TUVAL_MAIL_FROM TUVAL_CURRENCY
		TUVAL_PRICE_PER_PIXEL_WEEK TUVAL_HOLD_TTL TUVAL_HOLD_MAX TUVAL_CHECKOUT_TTL TUVAL_CHECKOUT_GRACE
		TUVAL_APPROVAL_WINDOW TUVAL_RENEWAL_WINDOW TUVAL_MAX_BLOCKS TUVAL_MAX_HOLDS_PER_PERSON
		TUVAL_MAX_HOLDS_PER_ADDRESS TUVAL_MAX_HELD_SHARE TUVAL_BLOCK_MINUTES TUVAL_HOLD_MINUTES
		TUVAL_MAX_BLOCKS_PER_ADDRESS TUVAL_BLOCK_MINUTES_PER_ADDRESS TUVAL_RECONCILE_EVERY TUVAL_RATE_LIMITS
		TUVAL_LIMIT_REVIEWS_PER_HOUR TUVAL_LIMIT_LAUNCH_PIXELS_PER_DAY TUVAL_LIMIT_CHECKOUTS_PER_15M
		TUVAL_MATCH_WINDOW TUVAL_METRICS_ADDR TUVAL_TRUSTED_PROXIES TUVAL_ADMIN_EMAIL TUVAL_ADMIN_PASSWORD
		TUVAL_LOG TUVAL_MIGRATE`) {
		if !seen[name] {
			t.Errorf("%s is not a setting", name)
		}
	}
}

// Whatever is in the environment, Load answers, and names only settings.
func TestAnyEnvironmentGetsAnAnswer(t *testing.T) {
	known := map[string]bool{}
	var all []string
	for _, s := range config.Settings() {
		known[s.Name] = true
		all = append(all, s.Name)
	}
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "on", "production", "0", "-1", "9223372036854775807", "1h", "::", "https://x", "1e309"}))
		_, err := config.Load(from(rapid.MapOf(rapid.SampledFrom(all), value).Draw(t, "env")))
		for _, n := range names(err) {
			if !known[n] {
				t.Fatalf("%q is not a setting", n)
			}
		}
		if err != nil && names(err) == nil {
			t.Fatalf("not an *Error: %v", err)
		}
	})
}

func TestTheDevelopmentSecretIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "var")
	got := make([]config.Secret, 8)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			<-start
			var err error
			if got[i], err = config.DevSecret(dir); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	for _, s := range got {
		if s.Reveal() != got[0].Reveal() || len(s.Reveal()) < 32 {
			t.Errorf("different or short secrets: %q", s.Reveal())
		}
	}
	info, err := os.Stat(filepath.Join(dir, "secret"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "secret-*"))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestABrokenDevelopmentSecretIsNotUsed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.DevSecret(dir); err == nil {
		t.Error("a cut off secret is used")
	}
}
