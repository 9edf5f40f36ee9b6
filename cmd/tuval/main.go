package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"tuval/internal/app"
	"tuval/internal/config"
	"tuval/internal/telemetry"
)

// Set by the linker.
var version, commit = "unversioned", "unknown"

// The exit codes.
const (
	exitOK = iota
	exitFailed
	exitUsage
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], world{os.LookupEnv, os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// world is what a command sees of the machine.
type world struct {
	env    func(string) (string, bool)
	in     io.Reader
	out    io.Writer
	errors io.Writer
}

type command struct {
	name, help string
	run        func(ctx context.Context, w world, args []string) error
}

func commands() []command {
	return []command{
		{"serve", "web server and job workers (--no-workers, --no-web)", serve},
		{"migrate", "apply the migrations; safe to run by several at once", migrate},
		{"check", "check every invariant on the database", checkAll},
		{"age", "--by 720h: move all data into the past (development only)", ageAll},
		{"admin", "add EMAIL, token EMAIL, tokens EMAIL, revoke ID, disable EMAIL", admin},
		{"demo", "fill the canvas with example rentals", demo},
		{"version", "version, commit, Go version", showVersion},
	}
}

// errUsage is a wrong call; its text was written already.
var errUsage = errors.New("usage")

// errFound is a check that found something; its text was written already.
var errFound = errors.New("violations")

func run(ctx context.Context, args []string, w world) int {
	if len(args) > 0 {
		for _, c := range commands() {
			if c.name == args[0] {
				return exitCode(c.run(ctx, w, args[1:]), w)
			}
		}
	}
	out, code := w.errors, exitUsage
	if len(args) > 0 && (args[0] == "help" || args[0] == "--help" || args[0] == "-h") {
		out, code = w.out, exitOK
	}
	fmt.Fprint(out, "tuval COMMAND\n\n")
	for _, c := range commands() {
		fmt.Fprintf(out, "  %-8s %s\n", c.name, c.help)
	}
	return code
}

func exitCode(err error, w world) int {
	var settings *config.Error
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errUsage):
		return exitUsage
	case errors.Is(err, errFound):
		return exitFailed
	case errors.As(err, &settings):
		fmt.Fprintln(w.errors, settings)
		return exitUsage
	}
	fmt.Fprintln(w.errors, "tuval:", err)
	return exitFailed
}

// open loads the settings and connects, for a command that serves nobody.
func open(ctx context.Context, w world) (*app.Base, error) {
	c, err := config.LoadTool(w.env)
	if err != nil {
		return nil, err
	}
	return app.Open(ctx, c, telemetry.Logger(w.errors, c.Log.Format, c.Log.Level), w.errors)
}

// usage says how a command is called.
func usage(w world, format string, args ...any) error {
	fmt.Fprintf(w.errors, format+"\n", args...)
	return errUsage
}
