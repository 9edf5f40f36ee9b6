package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/db"
	"tuval/internal/gateway"
	"tuval/internal/grid"
	"tuval/internal/jobs"
	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/turnstile"
	"tuval/migrations"
)

const holdsText = `The whole transaction of a hold (limits, rental, claim, ledger, job) as ` + "`market.Hold`" + ` runs it, beside pgbench with the very statements that
one such hold sent, taken down from the connection. Disjoint 6 x 4 rects, %d clients, each hold by a new person, then given back by the same
two statements in both; median of %d turns of %s. What Go batches into one round trip pgbench sends one by one.

| | holds/s |
|---|---|
| market.Hold | %s |
| the same statements in pgbench | %s |
| ratio | %.2f |
`

const (
	holdClients = 32
	holdTurns   = 3
)

// closeRental and turnstile.Release give a hold back in both.
const closeRental = `UPDATE rentals SET state = 'closed', closed_reason = 'cancelled', closed_at = now(), leased_until = NULL WHERE id = $1`

// holdsSection measures a hold's whole transaction.
func holdsSection(ctx context.Context, b *bench) (part, error) {
	s, err := startServer(ctx, b.log)
	if err != nil {
		return part{}, err
	}
	defer s.stop()
	url, err := s.cluster.EnsureDatabase(ctx, "holds")
	if err != nil {
		return part{}, err
	}
	pool, err := db.Open(ctx, db.Settings{URL: url, Name: "bench", MaxConns: holdClients + 2})
	if err != nil {
		return part{}, err
	}
	defer pool.Close()
	if err := migrations.Apply(ctx, pool); err != nil {
		return part{}, err
	}
	// Ids that cannot be taken for each other, nor for coordinates.
	const apart = `SELECT setval('claim_ids', 700001), setval(pg_get_serial_sequence('persons', 'id'), 900001)`
	if _, err := pool.Exec(ctx, apart); err != nil {
		return part{}, err
	}
	script, err := holdScript(ctx, url)
	if err != nil {
		return part{}, err
	}
	var go_, raw []float64
	for range holdTurns {
		rate, err := holdsInGo(ctx, pool, b.cell)
		if err != nil {
			return part{}, err
		}
		go_ = append(go_, rate)
		if rate, err = holdsInPgbench(ctx, s.cluster.BinDir(), url, script, b.cell); err != nil {
			return part{}, err
		}
		raw = append(raw, rate)
		b.logf("market.Hold %8.0f/s pgbench %8.0f/s", go_[len(go_)-1], rate)
	}
	ours, limit := median(go_), median(raw)
	return part{
		title: "The whole hold",
		text:  fmt.Sprintf(holdsText, holdClients, holdTurns, b.cell, thousands(ours), thousands(limit), ours/limit),
	}, nil
}

func benchMarket(pool *pgxpool.Pool) (*market.Market, error) {
	queue, err := jobs.NewQueue(pool)
	if err != nil {
		return nil, err
	}
	usd, _ := money.Lookup("usd")
	most := market.Limits{Holds: math.MaxInt32, Blocks: math.MaxInt32, BlockMinutes: math.MaxInt32}
	return market.New(pool, queue, gateway.New(gateway.Settings{}, false), market.Rules{
		Currency: usd, PricePerPixel: 100, HoldTTL: 10 * time.Minute, HoldMax: 90 * time.Minute, CheckoutTTL: 31 * time.Minute,
		CheckoutGrace: 10 * time.Minute, ApprovalWindow: 720 * time.Hour, RenewalWindow: 48 * time.Hour, MaxBlocks: 1000,
		Person: most, Address: most, MaxHeldShare: 1, Secret: []byte("bench"),
	}, slog.New(slog.DiscardHandler)), nil
}

func placeOf(client int) grid.Rect {
	return grid.Rect{X: client % 16 * 6, Y: client / 16 * 4, W: 6, H: 4}
}

// holdsInGo is how many holds a second the market places.
func holdsInGo(ctx context.Context, pool *pgxpool.Pool, during time.Duration) (float64, error) {
	m, err := benchMarket(pool)
	if err != nil {
		return 0, err
	}
	begin := time.Now().Add(warmUp)
	end := begin.Add(during)
	counts, errs := make([]int, holdClients), make([]error, holdClients)
	var all sync.WaitGroup
	for i := range holdClients {
		all.Go(func() {
			for time.Now().Before(end) && errs[i] == nil {
				var address [16]byte
				rand.Read(address[:])
				held, err := m.Hold(ctx, market.Who{Address: address[:]}, placeOf(i), market.Request{})
				if errs[i] = err; err != nil {
					return
				}
				if time.Now().After(begin) {
					counts[i]++
				}
				errs[i] = giveBack(ctx, pool, held)
			}
		})
	}
	all.Wait()
	total := 0
	for i := range counts {
		if errs[i] != nil {
			return 0, errs[i]
		}
		total += counts[i]
	}
	return float64(total) / during.Seconds(), nil
}

func giveBack(ctx context.Context, pool *pgxpool.Pool, held market.Held) error {
	return db.InTx(ctx, pool, "give back", func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, closeRental, held.ID); err != nil {
			return err
		}
		return turnstile.Release(ctx, tx, turnstile.Lease{Claim: turnstile.ClaimID(held.ID), Rect: held.Rect})
	})
}

// scribe takes down what a connection is asked.
type scribe struct{ said []statement }

type statement struct {
	sql  string
	args []any
}

func (s *scribe) TraceQueryStart(ctx context.Context, c *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.note(ctx, c, d.SQL, d.Args)
	return ctx
}
func (s *scribe) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (s *scribe) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (s *scribe) TraceBatchQuery(ctx context.Context, c *pgx.Conn, d pgx.TraceBatchQueryData) {
	s.note(ctx, c, d.SQL, d.Args)
}
func (s *scribe) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (s *scribe) note(ctx context.Context, c *pgx.Conn, sql string, args []any) {
	if len(args) > 0 {
		if named, is := args[0].(pgx.QueryRewriter); is {
			if plain, list, err := named.RewriteQuery(ctx, c, sql, args[1:]); err == nil {
				sql, args = plain, list
			}
		}
	}
	s.said = append(s.said, statement{sql, args})
}

// holdScript runs one hold on a rect of telling coordinates and writes what
// was sent as a script for pgbench, with that rect, the person and the rental
// as variables.
func holdScript(ctx context.Context, url string) (string, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return "", err
	}
	heard := &scribe{}
	c.ConnConfig.Tracer = heard
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return "", err
	}
	defer pool.Close()
	m, err := benchMarket(pool)
	if err != nil {
		return "", err
	}
	rect := grid.Rect{X: 71, Y: 83, W: 6, H: 4}
	held, err := m.Hold(ctx, market.Who{Address: []byte("bench")}, rect, market.Request{})
	if err != nil {
		return "", err
	}
	script := pgbenchOf(heard.said, held)
	return script, giveBack(ctx, pool, held)
}

func pgbenchOf(said []statement, held market.Held) string {
	var out strings.Builder
	out.WriteString("\\set address random(1, 1000000000000)\n\\set x1 :client_id % 16 * 6\n\\set y1 :client_id / 16 * 4\n\\set x2 :x1 + 5\n\\set y2 :y1 + 3\n")
	for _, s := range said {
		sql := inlined(s, held)
		end := ";\n"
		switch {
		case strings.Contains(sql, "INSERT INTO persons"):
			sql, end = strings.Replace(sql, "RETURNING id", "RETURNING id AS person", 1), " \\gset\n"
		case strings.Contains(sql, "INSERT INTO rentals"):
			at := strings.LastIndex(sql, "RETURNING")
			sql, end = sql[:at]+"RETURNING id AS rental", " \\gset\n"
		}
		out.WriteString(oneLine(sql) + end)
	}
	out.WriteString("BEGIN;\n" + strings.Replace(closeRental, "$1", ":rental", 1) + ";\n")
	out.WriteString(positional(turnstile.Statements()["release"], "rental", "y1", "y2", "x1", "x2") + ";\nCOMMIT;\n")
	return out.String()
}

// oneLine takes out comments and line breaks.
func oneLine(sql string) string {
	var words []string
	for line := range strings.Lines(sql) {
		code, _, _ := strings.Cut(line, "--")
		words = append(words, strings.Fields(code)...)
	}
	return strings.Join(words, " ")
}

// inlined writes the arguments into the statement, the telling ones as
// variables. From the last to the first, so that $1 does not eat $10.
func inlined(s statement, held market.Held) string {
	sql := s.sql
	for i := len(s.args); i > 0; i-- {
		sql = strings.ReplaceAll(sql, "$"+strconv.Itoa(i), literal(s.args[i-1], held))
	}
	return sql
}

func literal(v any, held market.Held) string {
	switch text := fmt.Sprint(v); text {
	case "71":
		return ":x1"
	case "76":
		return ":x2"
	case "83":
		return ":y1"
	case "86":
		return ":y2"
	case fmt.Sprint(int64(held.ID)):
		return ":rental"
	case fmt.Sprint(held.Person):
		if held.Person != 0 {
			return ":person"
		}
	case held.Key:
		return "md5(random()::text)"
	}
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return "convert_to(:address::text, 'UTF8')"
	case time.Time:
		return "'" + v.Format(time.RFC3339Nano) + "'"
	case *time.Time:
		if v == nil {
			return "NULL"
		}
		return "'" + v.Format(time.RFC3339Nano) + "'"
	case *int64:
		return "NULL"
	case bool:
		return strconv.FormatBool(v)
	case string:
		if len(v) == 26 {
			return "md5(random()::text)" // the public id
		}
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	}
	if named := reflect.ValueOf(v); named.Kind() == reflect.String {
		return "'" + strings.ReplaceAll(named.String(), "'", "''") + "'"
	}
	return literalList(v)
}

// literalList writes arrays in PostgreSQL's own form, numbers as they are.
func literalList(v any) string {
	text := fmt.Sprintf("%v", v)
	if !strings.HasPrefix(text, "[") {
		return text
	}
	switch list := v.(type) {
	case []string:
		quoted := make([]string, len(list))
		for i, e := range list {
			quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(e) + `"`
		}
		return "'{" + strings.ReplaceAll(strings.Join(quoted, ","), "'", "''") + "}'"
	case []time.Time:
		quoted := make([]string, len(list))
		for i, e := range list {
			quoted[i] = `"` + e.Format(time.RFC3339Nano) + `"`
		}
		return "'{" + strings.Join(quoted, ",") + "}'"
	case [][]byte:
		quoted := make([]string, len(list))
		for i, e := range list {
			quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(string(e)) + `"`
		}
		return "'{" + strings.ReplaceAll(strings.Join(quoted, ","), "'", "''") + "}'"
	}
	return "'{" + strings.Join(strings.Fields(strings.Trim(text, "[]")), ",") + "}'"
}

func holdsInPgbench(ctx context.Context, binDir, url, script string, during time.Duration) (float64, error) {
	dir, err := os.MkdirTemp("", "tuval-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "hold.sql")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return 0, err
	}
	dsn, err := libpq(url)
	if err != nil {
		return 0, err
	}
	seconds := 1 + max(1, int(during.Seconds()))
	out, err := exec.CommandContext(ctx, filepath.Join(binDir, "pgbench"), "-n", "-M", "prepared", "-c", strconv.Itoa(holdClients), "-j", "2",
		"-T", strconv.Itoa(seconds), "-P", "1", "-f", file, dsn).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("pgbench: %w: %s\n%s", err, out, script)
	}
	return progress(string(out), seconds-1)
}
