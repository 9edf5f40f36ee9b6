package config

import (
	"net"
	"net/url"

	"tuval/internal/money"
	"tuval/internal/text"
)

// secretBytes is the least a key that tokens are derived from may have.
const secretBytes = 32

// PasswordMin is the least number of bytes of an admin's password.
const PasswordMin = 8

// maxWeeks is the most one payment can buy.
const maxWeeks = 52

// rules are what must hold in every installation.
func (r *reader) rules(c Config) {
	r.hostPort("TUVAL_ADDR", c.HTTP.Addr)
	r.hostPort("TUVAL_METRICS_ADDR", c.HTTP.MetricsAddr)
	if r.given("TUVAL_BASE_URL") {
		r.webURL("TUVAL_BASE_URL", c.HTTP.BaseURL, true)
	}
	r.webURL("STRIPE_API_URL", c.Stripe.APIURL, false)
	r.databaseURL(c.Database.URL.Reveal())
	r.smtpURL(c.Mail.SMTP.Reveal())
	if s := c.Secret.Reveal(); s != "" && len(s) < secretBytes {
		r.wrong("TUVAL_SECRET", "must have at least %d bytes, has %d", secretBytes, len(s))
	}
	r.admin(c.Admin)
	r.times(c.Market)
	r.sellable(c.Market)
}

func (r *reader) admin(a Admin) {
	password := a.Password.Reveal()
	switch {
	case a.Email != "" && password == "":
		r.wrong("TUVAL_ADMIN_PASSWORD", "is needed with TUVAL_ADMIN_EMAIL")
	case a.Email == "" && password != "":
		r.wrong("TUVAL_ADMIN_EMAIL", "is needed with TUVAL_ADMIN_PASSWORD")
	case password != "" && len(password) < PasswordMin:
		r.wrong("TUVAL_ADMIN_PASSWORD", "must have at least %d characters", PasswordMin)
	}
	if a.Email != "" {
		if _, err := text.Email(a.Email); err != nil {
			r.wrong("TUVAL_ADMIN_EMAIL", "%s", err)
		}
	}
}

// times makes sure that a hold, a checkout begun at its end, and the grace
// after that fit into the longest lease before payment.
func (r *reader) times(m Market) {
	if !r.fine("TUVAL_HOLD_TTL", "TUVAL_HOLD_MAX", "TUVAL_CHECKOUT_TTL", "TUVAL_CHECKOUT_GRACE") {
		return
	}
	if least := m.CheckoutTTL + m.CheckoutGrace + m.HoldTTL; m.HoldMax < least {
		r.wrong("TUVAL_HOLD_MAX", "must be at least TUVAL_CHECKOUT_TTL + TUVAL_CHECKOUT_GRACE + TUVAL_HOLD_TTL = %s, is %s", least, m.HoldMax)
	}
}

// sellable makes sure that at this price something can be bought at all.
func (r *reader) sellable(m Market) {
	if !r.fine("TUVAL_CURRENCY", "TUVAL_PRICE_PER_PIXEL_WEEK", "TUVAL_MAX_BLOCKS") {
		return
	}
	const pixelsOfBlock = 100
	for blocks := 1; blocks <= m.MaxBlocks; blocks++ {
		week, ok := money.Weekly(blocks*pixelsOfBlock, m.PricePerPixelWeek)
		for weeks := 1; ok && weeks <= maxWeeks; weeks++ {
			if total, fits := money.Total(week, weeks); fits && m.Currency.Chargeable(total) {
				return
			}
		}
	}
	r.wrong("TUVAL_PRICE_PER_PIXEL_WEEK", "%d sells nothing: no rectangle for 1 to %d weeks costs between %s and %s",
		m.PricePerPixelWeek, maxWeeks, m.Currency.Of(m.Currency.Min), m.Currency.Of(m.Currency.Max))
}

// production lists what an installation with strangers and money needs.
func (r *reader) production(c Config) {
	r.required("TUVAL_SECRET", c.Secret)
	r.required("DATABASE_URL", c.Database.URL)
	r.required("STRIPE_SECRET_KEY", c.Stripe.Key)
	if len(c.Stripe.WebhookSecrets) == 0 {
		r.missing("STRIPE_WEBHOOK_SECRET")
	}
	r.required("SMTP_URL", c.Mail.SMTP)
	if !r.given("TUVAL_BASE_URL") {
		r.missing("TUVAL_BASE_URL")
	} else if r.fine("TUVAL_BASE_URL") && !c.HTTP.Secure() {
		r.wrong("TUVAL_BASE_URL", "must begin with https:// in production")
	}
	if !c.HTTP.RateLimits {
		r.wrong("TUVAL_RATE_LIMITS", "off is refused in production")
	}
	if u, err := url.Parse(c.Stripe.APIURL); err == nil && u.Scheme == "http" && !isLoopback(u.Hostname()) {
		r.wrong("STRIPE_API_URL", "must begin with https:// in production, except on this machine")
	}
}

// development keeps an unguarded server on this machine and away from money.
func (r *reader) development(c Config) {
	host, _, _ := net.SplitHostPort(c.HTTP.Addr)
	if r.fine("TUVAL_ADDR") && !isLoopback(host) {
		r.wrong("TUVAL_ADDR", "must be a loopback address like 127.0.0.1:8080 in development, not %q", c.HTTP.Addr)
	}
	if r.given("TUVAL_BASE_URL") && r.fine("TUVAL_BASE_URL") && !isLoopback(hostOf(c.HTTP.BaseURL)) {
		r.wrong("TUVAL_BASE_URL", "must be on a loopback address in development, not %q", c.HTTP.BaseURL)
	}
	if c.Stripe.Live {
		r.wrong("STRIPE_SECRET_KEY", "is a live key; development takes test keys only")
	}
}

func (r *reader) required(name string, s Secret) {
	if !s.IsSet() {
		r.missing(name)
	}
}

func (r *reader) missing(name string) { r.wrong(name, "is required in production") }
