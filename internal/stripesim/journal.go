package stripesim

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Request is one call of the API, as kept in the journal: also calls that
// were refused, replayed or dropped, from the moment they arrive.
type Request struct {
	RequestID      string            `json:"request_id"`
	At             time.Time         `json:"at"`
	Endpoint       string            `json:"endpoint"` // "POST /v1/refunds"
	Path           string            `json:"path"`
	IdempotencyKey *string           `json:"idempotency_key"`
	Params         map[string]string `json:"params"`
	Status         *int              `json:"status"`  // nil: not answered yet, or never
	Outcome        string            `json:"outcome"` // running, answered, refused, replayed, dropped
	Fault          *string           `json:"fault"`   // what spoiled it, if something did
}

func (s *Sim) journal(ctx context.Context, c *call) error {
	const insert = `
		INSERT INTO stripesim.requests (request_id, at, endpoint, path, idempotency_key, params, outcome)
		VALUES (@id, now(), @endpoint, @path, @key, @params, @outcome)`
	params := map[string]string{}
	for _, pair := range c.form.flat() {
		params[printable(pair[0])] = printable(pair[1])
	}
	_, err := s.o.Pool.Exec(ctx, insert, pgx.StrictNamedArgs{
		"id": c.requestID, "endpoint": c.endpoint, "path": printable(c.r.URL.Path), "key": orNil(printable(c.key)),
		"params": params, "outcome": outcomeRunning,
	})
	return wrap("journal", err)
}

func (s *Sim) journalEnd(ctx context.Context, c *call, rep reply) {
	const update = `UPDATE stripesim.requests SET status = @status, outcome = @outcome, fault = @fault WHERE request_id = @id`
	_, err := s.o.Pool.Exec(ctx, update, pgx.StrictNamedArgs{
		"id": c.requestID, "status": orNil(rep.status), "outcome": rep.outcome, "fault": orNil(c.fault.Kind),
	})
	if err != nil {
		s.o.Logger.Warn("stripesim: could not finish the journal", "request", c.requestID, "error", err)
	}
}

// Requests lists the calls of one endpoint, or all (empty), oldest first; at
// most the last 10,000.
func (s *Sim) Requests(ctx context.Context, endpoint string) ([]*Request, error) {
	const find = `
		SELECT request_id, at, endpoint, path, idempotency_key, params, status, outcome, fault FROM (
			SELECT * FROM stripesim.requests WHERE @endpoint = '' OR endpoint = @endpoint ORDER BY id DESC LIMIT 10000
		) r ORDER BY id`
	found, err := many[Request](ctx, s.o.Pool, find, pgx.StrictNamedArgs{"endpoint": endpoint})
	return found, wrap("stripesim: requests", err)
}

// Counts is how many calls each endpoint has had.
func (s *Sim) Counts(ctx context.Context) (map[string]int, error) {
	type row struct {
		Endpoint string
		Calls    int
	}
	const count = `SELECT endpoint, count(*)::int AS calls FROM stripesim.requests GROUP BY endpoint`
	rows, err := many[row](ctx, s.o.Pool, count, pgx.StrictNamedArgs{})
	counts := map[string]int{}
	for _, r := range rows {
		counts[r.Endpoint] = r.Calls
	}
	return counts, wrap("stripesim: count requests", err)
}

// ForgetRequests empties the journal, so that a test counts from zero.
func (s *Sim) ForgetRequests(ctx context.Context) error {
	_, err := s.o.Pool.Exec(ctx, `DELETE FROM stripesim.requests`)
	return wrap("stripesim: forget requests", err)
}

// printable makes text of whatever was sent; PostgreSQL stores no NUL.
func printable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
