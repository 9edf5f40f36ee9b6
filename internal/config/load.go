package config

import (
	"strings"

	"tuval/internal/money"
)

// Load reads every setting for a server. The error is an *Error that names
// all that is wrong.
func Load(lookup func(string) (string, bool)) (Config, error) {
	r := &reader{lookup: lookup}
	c := r.config()
	r.rules(c)
	if c.Production() {
		r.production(c)
	} else {
		r.development(c)
	}
	return c, r.problem()
}

// LoadTool reads the same settings for a command that serves nobody: in
// production it insists on the database only, so that a migration can run
// where no payment key is known.
func LoadTool(lookup func(string) (string, bool)) (Config, error) {
	r := &reader{lookup: lookup}
	c := r.config()
	r.rules(c)
	if c.Production() {
		r.required("DATABASE_URL", c.Database.URL)
	}
	return c, r.problem()
}

// Settings lists every setting with its default, in the order in which they
// should be read.
func Settings() []Setting {
	r := &reader{lookup: func(string) (string, bool) { return "", false }}
	r.config()
	return r.settings
}

func (r *reader) config() Config {
	var c Config
	c.Env = Env(r.choice("TUVAL_ENV", string(Development), "what kind of installation this is",
		string(Development), string(Production)))
	c.HTTP = r.http()
	c.Secret = r.secret("TUVAL_SECRET", "32 bytes or more that nobody can guess; keep it, tokens are derived from it")
	c.Database = r.database()
	c.Stripe = r.stripe()
	c.Mail = r.mail(c.HTTP.BaseURL)
	c.Market = r.market()
	c.Limits = r.limits(c.Market.MaxBlocks)
	c.Launch = r.launch()
	c.Admin = Admin{
		Email:    r.text("TUVAL_ADMIN_EMAIL", "", "an admin to make sure of at start"),
		Password: r.secret("TUVAL_ADMIN_PASSWORD", "the password of that admin"),
	}
	c.Log = Log{
		Format: r.choice("TUVAL_LOG", "text", "how log lines are written", "text", "json"),
		Level:  r.choice("TUVAL_LOG_LEVEL", "info", "the least that is logged", "debug", "info", "warn", "error"),
	}
	return c
}

func (r *reader) http() HTTP {
	h := HTTP{
		Addr:    r.text("TUVAL_ADDR", "127.0.0.1:8080", "host:port to listen on"),
		BaseURL: strings.TrimRight(r.text("TUVAL_BASE_URL", "", "the address people use, like https://tuval.example; default: http:// and TUVAL_ADDR"), "/"),
	}
	if h.BaseURL == "" {
		h.BaseURL = "http://" + h.Addr
	}
	h.TrustedProxies = r.prefixes("TUVAL_TRUSTED_PROXIES", "networks of our reverse proxies, comma separated, like 10.0.0.0/8")
	h.MetricsAddr = r.text("TUVAL_METRICS_ADDR", "", "host:port for /metrics; default: on TUVAL_ADDR, for this machine only")
	h.RateLimits = r.onOff("TUVAL_RATE_LIMITS", "on", "limits of request rates; hold limits and capacity always count")
	return h
}

func (r *reader) database() Database {
	return Database{
		URL:     r.secret("DATABASE_URL", "PostgreSQL, like postgres://user:password@host/tuval; empty: a private one in TUVAL_DATA_DIR"),
		DataDir: r.text("TUVAL_DATA_DIR", "var", "where the private PostgreSQL and the development secret live"),
		Migrate: r.onOff("TUVAL_MIGRATE", "on", "whether serve applies migrations"),
	}
}

func (r *reader) stripe() Stripe {
	s := Stripe{Key: r.secret("STRIPE_SECRET_KEY", "empty: payments are simulated, in development only")}
	for one := range strings.SplitSeq(r.raw("STRIPE_WEBHOOK_SECRET", "", "one or more, comma separated, all valid at once"), ",") {
		if one = strings.TrimSpace(one); one != "" {
			s.WebhookSecrets = append(s.WebhookSecrets, NewSecret(one))
		}
	}
	s.APIURL = strings.TrimRight(r.text("STRIPE_API_URL", "https://api.stripe.com", "where Stripe's API is"), "/")
	key := s.Key.Reveal()
	s.Live = strings.HasPrefix(key, "sk_live_") || strings.HasPrefix(key, "rk_live_")
	return s
}

func (r *reader) mail(baseURL string) Mail {
	return Mail{
		SMTP: r.secret("SMTP_URL", "smtp:// or smtps://user:password@host:port; empty: mails are kept and shown at /dev/mail, in development only"),
		From: r.sender("TUVAL_MAIL_FROM", "who mails come from; default: Tuval <no-reply@ the host of TUVAL_BASE_URL>", hostOf(baseURL)),
	}
}

func (r *reader) market() Market {
	var m Market
	m.Currency = r.currency("TUVAL_CURRENCY", "usd", "one of "+strings.Join(money.Codes(), ", "))
	m.PricePerPixelWeek = r.whole("TUVAL_PRICE_PER_PIXEL_WEEK", "100", "minor units of the currency", 1, 1_000_000_000)
	m.MaxBlocks = int(r.whole("TUVAL_MAX_BLOCKS", "1000", "blocks of one hold, and of one person's holds together", 1, 10_000))
	m.HoldTTL = r.duration("TUVAL_HOLD_TTL", "10m", "how long a hold lasts, and how much keeping it adds", 1)
	m.HoldMax = r.duration("TUVAL_HOLD_MAX", "90m", "no unpaid lease is longer than this", 1)
	m.CheckoutTTL = r.duration("TUVAL_CHECKOUT_TTL", "31m", "how long a payment page can be paid", 1)
	m.CheckoutGrace = r.duration("TUVAL_CHECKOUT_GRACE", "10m", "how much longer the blocks are kept, for late news", 1)
	m.ApprovalWindow = r.duration("TUVAL_APPROVAL_WINDOW", "720h", "paid, but no approved picture by then: refunded", 1)
	m.RenewalWindow = r.duration("TUVAL_RENEWAL_WINDOW", "48h", "how long only the former renter can take the blocks again", 1)
	m.ReconcileEvery = r.duration("TUVAL_RECONCILE_EVERY", "15m", "how often everything is compared with Stripe", 1)
	m.MatchWindow = r.duration("TUVAL_MATCH_WINDOW", "0", "how long requests for a spot are gathered and given out together; 0: not at all (checked, not used in this release)", 0)
	return m
}

func (r *reader) limits(maxBlocks int) Limits {
	return Limits{
		HoldsPerPerson:         r.count("TUVAL_MAX_HOLDS_PER_PERSON", "3", "unpaid holds at once"),
		HoldsPerAddress:        r.count("TUVAL_MAX_HOLDS_PER_ADDRESS", "10", "the same for one network address (IPv6: /64)"),
		BlocksPerPerson:        maxBlocks,
		BlocksPerAddress:       r.count("TUVAL_MAX_BLOCKS_PER_ADDRESS", "1500", "blocks in unpaid holds of one network address"),
		HeldShare:              r.share("TUVAL_MAX_HELD_SHARE", "0.30", "share of the grid in unpaid holds of everybody"),
		BlockMinutesPerPerson:  r.count("TUVAL_BLOCK_MINUTES", "180000", "blocks times minutes in unpaid holds, one person, a day"),
		BlockMinutesPerAddress: r.count("TUVAL_BLOCK_MINUTES_PER_ADDRESS", "270000", "the same for one network address"),
		HoldMinutesPerPerson:   r.count("TUVAL_HOLD_MINUTES", "300", "minutes in unpaid holds, one person, a day"),
	}
}

func (r *reader) launch() Launch {
	return Launch{
		ReviewsPerHour:  r.count("TUVAL_LIMIT_REVIEWS_PER_HOUR", "60", "pictures that moderators can look at; binds a go-live hour that is chosen"),
		PixelsPerDay:    r.count("TUVAL_LIMIT_LAUNCH_PIXELS_PER_DAY", "200000", "pixels that may go live in a day (UTC); binds a go-live hour that is chosen"),
		CheckoutsPer15M: r.count("TUVAL_LIMIT_CHECKOUTS_PER_15M", "300", "payments begun in 15 minutes, by everybody"),
	}
}
