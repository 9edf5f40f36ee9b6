package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"tuval/internal/localpg"
)

const variable = "TUVAL_TEST_DATABASE_URL"

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: with PROGRAM [ARGUMENT ...]")
		os.Exit(2)
	}
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "with:", err)
	}
	os.Exit(code)
}

func run(argv []string) (int, error) {
	// A Ctrl-C reaches the program by itself (same terminal); we wait for it.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if os.Getenv(variable) == "" {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		cluster, err := localpg.StartTemporary(ctx, localpg.Options{Fast: true, Log: os.Stderr})
		if err != nil {
			return 1, err
		}
		defer cluster.Stop(ctx) //nolint:errcheck // it is thrown away
		os.Setenv(variable, cluster.URL(""))
	}
	return foreground(argv, signals)
}

// foreground runs the program and returns its exit code.
func foreground(argv []string, signals <-chan os.Signal) (int, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 127, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM {
				_ = cmd.Process.Signal(s)
			}
		case err := <-ended:
			return exitCode(err)
		}
	}
}

func exitCode(err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode(), nil
	default:
		return 1, err // ended by a signal
	}
}
