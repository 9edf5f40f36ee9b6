package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// section is a part of docs/benchmarks.md.
type section struct {
	name    string
	measure func(ctx context.Context, b *bench) (part, error)
}

// part is what a section has to say.
type part struct {
	title  string
	text   string            // markdown
	charts map[string]string // SVG by file name, referred to in text
}

// sections in the order of the document.
func sections() []section {
	return []section{
		{"raw", rawSection},
		{"ways", waysSection},
		{"clients", clientsSection},
		{"guard", guardSection},
		{"holds", holdsSection},
		{"http", httpSection},
		{"jobs", jobsSection},
	}
}

// bench is what all sections share.
type bench struct {
	cell    time.Duration // how long one figure is measured
	log     io.Writer
	machine machine
}

func (b *bench) logf(format string, args ...any) { fmt.Fprintf(b.log, format+"\n", args...) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, log io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	short := flags.Bool("short", false, "two seconds a cell, for trying")
	cell := flags.Duration("cell", 4*time.Second, "how long one figure is measured")
	only := flags.String("only", "", "comma separated names of sections; empty: all")
	out := flags.String("out", "docs", "folder of benchmarks.md and its charts")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *short {
		*cell = 2 * time.Second
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	b := &bench{cell: *cell, log: log, machine: thisMachine(ctx)}
	for _, s := range chosen {
		b.logf("== %s", s.name)
		p, err := s.measure(ctx, b)
		if err != nil {
			return fmt.Errorf("section %s: %w", s.name, err)
		}
		if err := write(filepath.Clean(*out), s.name, p, b); err != nil {
			return fmt.Errorf("section %s: %w", s.name, err)
		}
	}
	return nil
}

func choose(only string) ([]section, error) {
	all := sections()
	if only == "" {
		return all, nil
	}
	var chosen []section
	for _, name := range strings.Split(only, ",") {
		i := slices.IndexFunc(all, func(s section) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no section %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
