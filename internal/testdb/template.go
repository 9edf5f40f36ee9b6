package testdb

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"tuval/migrations"
)

// templateLock is the advisory lock under which a template is made.
const templateLock = 0x7465_6d70_6c61

// create makes a database, as a clone unless template is "".
func (p *postgres) create(ctx context.Context, name, template string) error {
	sql := "CREATE DATABASE " + quoted(name)
	if template != "" {
		sql += " TEMPLATE " + quoted(template) + p.strategy
	}
	return p.exec(ctx, sql)
}

// cheapest sets how databases are cloned. Copying files needs two checkpoints,
// which cost next to nothing without fsync and much with it: 45 ms against 170 ms
// for logging each page.
func (p *postgres) cheapest(ctx context.Context, conn *pgx.Conn) error {
	var copyFiles bool
	err := conn.QueryRow(ctx, `
		SELECT current_setting('fsync') = 'off' AND current_setting('server_version_num')::int >= 150000`).Scan(&copyFiles)
	if err != nil {
		return fmt.Errorf("ask for the server's settings: %w", err)
	}
	if copyFiles {
		p.strategy = " STRATEGY file_copy"
	}
	return nil
}

// template returns the name of a migrated database to clone, making it if this
// server has none of these migrations yet.
func (p *postgres) template(ctx context.Context) (string, error) {
	p.once.Do(func() { p.name, p.err = p.ensureTemplate(ctx) })
	return p.name, p.err
}

func (p *postgres) ensureTemplate(ctx context.Context) (string, error) {
	hash, err := schemaHash()
	if err != nil {
		return "", err
	}
	name := "tuval_template_" + hash
	conn, err := pgx.Connect(ctx, p.url)
	if err != nil {
		return "", fmt.Errorf("connect to the test server: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) // gives the lock back
	if err := p.cheapest(ctx, conn); err != nil {
		return "", err
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(templateLock)); err != nil {
		return "", fmt.Errorf("wait for the template: %w", err)
	}
	var there bool
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&there)
	if err != nil || there {
		return name, err
	}
	return name, p.build(ctx, name)
}

// build migrates under another name first: what has the template's name is
// complete.
func (p *postgres) build(ctx context.Context, name string) error {
	unfinished := name + "_new"
	if err := p.exec(ctx, "DROP DATABASE IF EXISTS "+quoted(unfinished)+" WITH (FORCE)"); err != nil {
		return err
	}
	if err := p.create(ctx, unfinished, ""); err != nil {
		return err
	}
	if err := migrate(ctx, withDatabase(p.url, unfinished)); err != nil {
		return err
	}
	return p.exec(ctx, "ALTER DATABASE "+quoted(unfinished)+" RENAME TO "+quoted(name))
}

func migrate(ctx context.Context, address string) error {
	pool, err := pgxpool.New(ctx, address)
	if err != nil {
		return fmt.Errorf("open the template: %w", err)
	}
	defer pool.Close()
	if err := migrations.Apply(ctx, pool); err != nil {
		return fmt.Errorf("migrate the template: %w", err)
	}
	// Clones begin with statistics and without work for autovacuum.
	if _, err := pool.Exec(ctx, "VACUUM (FREEZE, ANALYZE)"); err != nil {
		return fmt.Errorf("vacuum the template: %w", err)
	}
	return nil
}

// schemaHash names the schema: our migrations and the job queue's.
func schemaHash() (string, error) {
	h := sha256.New()
	names, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil {
		return "", fmt.Errorf("list migrations: %w", err)
	}
	for _, name := range names {
		content, err := migrations.Files.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("read migrations: %w", err)
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(content), content)
	}
	river, err := rivermigrate.New(riverpgxv5.New(nil), nil)
	if err != nil {
		return "", fmt.Errorf("list the job queue's migrations: %w", err)
	}
	for _, m := range river.AllVersions() {
		_, _ = io.WriteString(h, m.SQLUp)
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:16], nil
}
