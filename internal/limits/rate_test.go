package limits_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tuval/internal/fault"
	"tuval/internal/limits"
)

// clock is moved by hand.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func TestARateSaysWhenToComeBack(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	k := limits.NewKeyed(limits.Rate{Burst: 2, Every: 10 * time.Second}, "Slowly.", c.now)
	for range 2 {
		if err := k.Allow("a"); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 { // asking too early costs nothing
		f := fault.As(k.Allow("a"))
		if f.Kind != fault.Limited || f.RetryAfter != 10*time.Second || f.Msg != "Slowly." {
			t.Fatalf("answered %+v", f)
		}
	}
	if err := k.Allow("b"); err != nil {
		t.Errorf("another is refused: %v", err)
	}
	c.t = c.t.Add(10*time.Second - 1)
	if k.Allow("a") == nil {
		t.Error("allowed one nanosecond early")
	}
	c.t = c.t.Add(1)
	if err := k.Allow("a"); err != nil {
		t.Errorf("refused when it was time: %v", err)
	}
	k.Forget("a")
	if err := k.Allow("a"); err != nil {
		t.Errorf("refused after being forgotten: %v", err)
	}
}

func TestManyNetworksDoNotFillTheMemory(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	k := limits.NewKeyed(limits.Rate{Burst: 1, Every: time.Hour}, "", c.now)
	most := 100
	limits.SetMost(k, most)
	for i := range 10 * most {
		if err := k.Allow(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		if n := limits.Len(k); n > most {
			t.Fatalf("%d buckets are kept", n)
		}
	}
	c.t = c.t.Add(time.Hour) // all are full again, and go first
	_ = k.Allow("x")
	for i := range most - 1 {
		_ = k.Allow("new" + fmt.Sprint(i))
	}
	if k.Allow("x") == nil {
		t.Error("a bucket in use was dropped while full ones were there")
	}
}

func TestARateHoldsInAStampede(t *testing.T) {
	k := limits.NewKeyed(limits.Rate{Burst: 5, Every: time.Hour}, "", time.Now)
	var through atomic.Int32
	var wg sync.WaitGroup
	start := make(chan struct{})
	for range 64 {
		wg.Go(func() {
			<-start
			if k.Allow("a") == nil {
				through.Add(1)
			}
		})
	}
	close(start)
	wg.Wait()
	if through.Load() != 5 {
		t.Errorf("%d came through", through.Load())
	}
}

func TestOffAllowsEverything(t *testing.T) {
	off, on := limits.New(false), limits.New(true)
	refused := false
	for range 1000 {
		if off.SignIn.Allow("a") != nil {
			t.Fatal("refused though switched off")
		}
		refused = refused || on.SignIn.Allow("a") != nil
	}
	off.SignIn.Forget("a")
	if !refused {
		t.Error("a thousand sign-ins are fine")
	}
}
