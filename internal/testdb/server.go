package testdb

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/jackc/pgx/v5"

	"tuval/internal/localpg"
)

// postgres is a server that this process tests with.
type postgres struct {
	url  string // of a database to give commands in
	once sync.Once
	name string // of the template
	err  error

	strategy string // of cloning it
}

// servers are the process's. They are made once, by the first test that asks,
// since there is no place before all tests of all packages. They are given up by
// ending: localpg notices.
var servers struct {
	shared, durable onceServer
}

type onceServer struct {
	once sync.Once
	srv  *postgres
	err  error
}

func server(ctx context.Context, durable bool) (*postgres, error) {
	which, start := &servers.shared, startShared
	if durable {
		which, start = &servers.durable, startDurable
	}
	which.once.Do(func() {
		address, err := start(ctx)
		which.srv, which.err = &postgres{url: address}, err
	})
	return which.srv, which.err
}

func startShared(ctx context.Context) (string, error) {
	if address := os.Getenv("TUVAL_TEST_DATABASE_URL"); address != "" {
		return address, nil
	}
	c, err := localpg.StartTemporary(ctx, localpg.Options{Fast: true, Log: os.Stderr})
	if err != nil {
		return "", fmt.Errorf("start the test server: %w", err)
	}
	return c.URL(""), nil
}

func startDurable(ctx context.Context) (string, error) {
	c, err := localpg.StartTemporary(ctx, localpg.Options{Log: io.Discard})
	if err != nil {
		return "", fmt.Errorf("start the test server: %w", err)
	}
	return c.URL(""), nil
}

// exec runs one command in a connection of its own.
func (p *postgres) exec(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, p.url)
	if err != nil {
		return fmt.Errorf("connect to the test server: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}
