package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"tuval/internal/age"
	"tuval/internal/app"
	"tuval/internal/check"
)

func checkAll(ctx context.Context, w world, args []string) (err error) {
	if len(args) > 0 {
		return usage(w, "tuval check takes no arguments")
	}
	b, err := open(ctx, w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	found, err := check.Run(ctx, b.Pool)
	if err != nil {
		return err
	}
	for _, line := range found {
		fmt.Fprintln(w.out, line)
	}
	switch len(found) {
	case 0:
		fmt.Fprintln(w.out, "ok")
		return nil
	case 1:
		fmt.Fprintln(w.out, "1 violation")
	default:
		fmt.Fprintf(w.out, "%d violations\n", len(found))
	}
	return errFound
}

func ageAll(ctx context.Context, w world, args []string) (err error) {
	flags := flag.NewFlagSet("age", flag.ContinueOnError)
	flags.SetOutput(w.errors)
	by := flags.Duration("by", 0, "how far into the past, such as 48h")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil || flags.NArg() > 0 {
		return errUsage
	}
	if *by <= 0 || *by > age.Most {
		return usage(w, "tuval age --by DURATION: more than 0 and at most %s", age.Most)
	}
	b, err := open(ctx, w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if b.Config.Production() {
		return usage(w, "tuval age moves all data into the past; it refuses in production (TUVAL_ENV)")
	}
	start := time.Now()
	if err := age.Move(ctx, b.Pool, *by); err != nil {
		return err
	}
	fmt.Fprintf(w.out, "everything is %s older (%s)\n", *by, time.Since(start).Round(time.Millisecond))
	return nil
}

func demo(ctx context.Context, w world, args []string) (err error) {
	if len(args) > 0 {
		return usage(w, "tuval demo takes no arguments")
	}
	b, err := open(ctx, w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return app.Demo(ctx, b, w.out)
}
