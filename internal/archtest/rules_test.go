package archtest

// row is one layer of the architecture. A package imports packages of lower rows
// only, and none of its own row but for the written exceptions.
type row struct {
	name     string
	packages []string
}

// rules are what the code is held to. Packages are named without the module
// ("internal/grid"), others by their import path; a path ending in "/..." stands
// for everything below it.
type rules struct {
	rows       []row               // lowest first
	sideways   map[string][]string // written exceptions inside a row: importer -> imported
	importers  map[string][]string // who alone may import a package
	owners     map[string][]string // who alone may import a module from outside
	pure       []string            // no I/O, no clock, no context
	impure     []string            // what those may not import
	domain     []string            // the database's time only, no HTTP
	envReaders []string            // who may read the environment
}

// tuval is the picture of docs/architecture.md, from the bottom to the top.
func tuval() rules {
	return rules{
		rows: []row{
			{"words", []string{"internal/fault", "internal/ident"}},
			{"pure", []string{"internal/grid", "internal/money", "internal/text", "internal/link", "internal/picture"}},
			{"kernel", []string{"internal/compose", "internal/db", "internal/config", "internal/telemetry", "internal/mailtext", "internal/localpg", "migrations", "static"}},
			{"what every transition needs", []string{"internal/turnstile", "internal/ledger", "internal/jobs", "internal/mail", "internal/gateway", "internal/session", "internal/limits"}},
			{"aggregates", []string{"internal/rental", "internal/payment", "internal/creative", "internal/account", "internal/capacity", "internal/match"}},
			{"use cases", []string{"internal/market", "internal/board", "internal/check", "internal/racelab", "internal/stripesim", "internal/workflow"}},
			{"consumers", []string{"internal/workers", "internal/age"}},
			{"pages", []string{"views"}},
			{"pages from facts", []string{"internal/workflow/drawn"}},
			{"stories of pages", []string{"views/stories"}},
			{"parts of web", []string{"web/..."}},
			{"web", []string{"web", "web/api"}},
			{"wiring", []string{"internal/app"}},
			{"programs and tests", []string{"cmd/tuval", "internal/testdb", "internal/testdb/with", "internal/archtest", "internal/e2e", "internal/bench"}},
		},
		sideways: map[string][]string{
			// A payment and a creative belong to a rental: its id is in theirs.
			"internal/payment":  {"internal/rental"},
			"internal/creative": {"internal/rental"},
			// The tables of the admin are shown as they were read.
			"web/show": {"web/lists"},
		},
		importers: map[string][]string{
			"web":              {"internal/app", "cmd/tuval"},
			"web/api":          {"internal/app", "cmd/tuval"},
			"views":            {"views/stories", "web/...", "internal/workflow/drawn"},
			"internal/workers": {"internal/app", "cmd/tuval"},
			"internal/app":     {"cmd/tuval", "internal/bench", "internal/e2e"}, // the latter in its tests
			"internal/testdb":  {},                                              // tests only
		},
		owners: map[string][]string{
			"github.com/stripe/stripe-go/...": {"internal/gateway", "internal/stripesim"},
			"github.com/pressly/goose/...":    {"migrations"},
		},
		pure: []string{"internal/fault", "internal/grid", "internal/money", "internal/text", "internal/link", "internal/workflow"},
		impure: []string{
			"context", "os", "os/...", "net", "net/http", "net/http/...", "log", "log/...", "syscall",
			"database/sql", "database/sql/...", "github.com/jackc/...", "math/rand", "math/rand/...", "crypto/rand",
		},
		domain: []string{
			"internal/fault", "internal/grid", "internal/money", "internal/text", "internal/link",
			"internal/turnstile", "internal/ledger", "internal/jobs",
			"internal/rental", "internal/payment", "internal/creative", "internal/capacity", "internal/match",
			"internal/market", "internal/workflow",
		},
		envReaders: []string{"internal/config", "internal/localpg", "internal/testdb", "internal/testdb/with", "cmd/tuval"},
	}
}
