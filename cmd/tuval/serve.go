package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"

	"tuval/internal/app"
	"tuval/internal/config"
	"tuval/internal/telemetry"
	"tuval/migrations"
)

func serve(ctx context.Context, w world, args []string) (err error) {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(w.errors)
	noWorkers := flags.Bool("no-workers", false, "serve pages only")
	noWeb := flags.Bool("no-web", false, "work jobs only")
	flags.Usage = func() { serveHelp(w, flags) }
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil || flags.NArg() > 0 {
		return usage(w, "tuval serve takes no arguments but --no-workers and --no-web")
	}
	c, err := config.Load(w.env)
	if err != nil {
		return err
	}
	b, err := app.Open(ctx, c, telemetry.Logger(w.errors, c.Log.Format, c.Log.Level), w.errors)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return app.Serve(ctx, b, app.Roles{Web: !*noWeb, Workers: !*noWorkers}, w.out)
}

func serveHelp(w world, flags *flag.FlagSet) {
	fmt.Fprint(w.errors, "tuval serve [--no-workers] [--no-web]\n\n")
	flags.PrintDefaults()
	fmt.Fprint(w.errors, "\nSettings are environment variables:\n\n")
	for _, s := range config.Settings() {
		fmt.Fprintf(w.errors, "  %-34s %s", s.Name, s.Help)
		if s.Default != "" {
			fmt.Fprintf(w.errors, " (default %s)", s.Default)
		}
		fmt.Fprintln(w.errors)
	}
}

func migrate(ctx context.Context, w world, args []string) (err error) {
	if len(args) > 0 {
		return usage(w, "tuval migrate takes no arguments")
	}
	b, err := open(ctx, w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := migrations.Apply(ctx, b.Pool); err != nil {
		return err
	}
	fmt.Fprintln(w.out, "the schema is up to date")
	return nil
}

func showVersion(_ context.Context, w world, _ []string) error {
	fmt.Fprintf(w.out, "tuval %s, commit %s, %s\n", version, commit, runtime.Version())
	return nil
}
