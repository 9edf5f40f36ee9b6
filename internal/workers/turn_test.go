package workers

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"tuval/internal/market"
)

// Turns come at the pace, one after the other; those far away and those that
// are broken off are given back and are no failures.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Deps{Pace: Pace{Mails: 0.5}}.postman()
		began := time.Now()
		for i := range 3 {
			if err := p.turn(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, want := time.Since(began), time.Duration(i)*2*time.Second; got != want {
				t.Errorf("turn %d after %v, want %v", i, got, want)
			}
		}
		first := make(chan error)
		for range 2 { // in 2 and 4 seconds
			go func() { first <- p.turn(t.Context()) }()
		}
		synctest.Wait()
		var later market.NotYet
		for range 5 { // 6 seconds: too far, however often one asks
			if err := p.turn(t.Context()); !errors.As(err, &later) || later.Wait != 6*time.Second {
				t.Errorf("%v, %v", err, later.Wait)
			}
		}
		for range 2 {
			if err := <-first; err != nil {
				t.Error(err)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := p.turn(ctx); !errors.As(err, &later) {
			t.Errorf("broken off: %v", err)
		}
	})
}

func TestThePaceOfTheProduct(t *testing.T) {
	if p := (Deps{}).postman(); p.pace.Limit() != mailsPerSecond || p.pace.Burst() != 1 {
		t.Errorf("%v mails a second, %d at once", p.pace.Limit(), p.pace.Burst())
	}
}
