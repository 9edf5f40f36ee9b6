package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/grid"
	"tuval/internal/testdb"
)

// claimant holds rects over the JSON API.
type claimant struct{ client *http.Client }

func crowd(n int) claimant {
	return claimant{&http.Client{
		Timeout:   30 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: n, MaxConnsPerHost: n},
	}}
}

type answer struct {
	status int
	code   string
	id     string
	token  string
	err    error
}

func (c claimant) hold(base string, r grid.Rect) answer {
	body, _ := json.Marshal(r)
	resp, err := c.client.Post(base+"/api/v1/holds", "application/json", strings.NewReader(string(body)))
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	var got struct {
		ID, Token string
		Error     struct{ Code string }
	}
	raw, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(raw, &got)
	}
	return answer{resp.StatusCode, got.Error.Code, got.ID, got.Token, err}
}

func (c claimant) release(base string, a answer) error {
	req, err := http.NewRequest(http.MethodDelete, base+"/api/v1/holds/"+a.id, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	resp, err := c.client.Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("release answered %d", resp.StatusCode)
	}
	return nil
}

func overlapping(rnd *rand.Rand) grid.Rect {
	return grid.Rect{X: 40 + rnd.IntN(15), Y: 40 + rnd.IntN(15), W: 1 + rnd.IntN(20), H: 1 + rnd.IntN(20)}
}

// rounds is how often the rush is repeated: 50 times in the soak, fewer where
// it shares the machine with all other tests and the race detector.
func rounds() int {
	if os.Getenv("TUVAL_TEST_SOAK") != "" {
		return 50
	}
	return 12
}

// 200 people on two processes want overlapping rects at the same instant, again
// and again: whoever is told so has all of it, at least one is, nobody meets an
// error, and PostgreSQL saw no deadlock.
func TestSoakRushOnTwoProcesses(t *testing.T) {
	url := testdb.URL(t)
	servers := []*process{start(t, append(roomy(), "DATABASE_URL="+url)...), start(t, append(roomy(), "DATABASE_URL="+url)...)}
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	c := crowd(100)
	const people = 200
	for round := range rounds() {
		winners := rush(t, c, servers, people, uint64(round))
		if len(winners) == 0 {
			t.Fatalf("round %d: everybody lost", round)
		}
		owned(t, pool, winners)
		for i, w := range winners {
			if err := c.release(servers[i%2].base, w.answer); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
	}
	quiet(t, pool)
	sound(t, url)
}

type winner struct {
	answer
	rect grid.Rect
}

func rush(t *testing.T, c claimant, servers []*process, people int, seed uint64) []winner {
	t.Helper()
	var mu sync.Mutex
	var won []winner
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	for i := range people {
		rect := overlapping(rand.New(rand.NewPCG(seed, uint64(i))))
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			a := c.hold(servers[i%len(servers)].base, rect)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case a.err != nil:
				t.Errorf("hold %v: %v", rect, a.err)
			case a.status == http.StatusCreated:
				won = append(won, winner{a, rect})
			case a.status != http.StatusConflict || a.code != "taken":
				t.Errorf("hold %v: %d %s", rect, a.status, a.code)
			}
		})
	}
	ready.Wait()
	close(gate)
	done.Wait()
	return won
}

// owned asks the database whether each winner has its whole rect, and nobody
// else has anything.
func owned(t *testing.T, pool *pgxpool.Pool, winners []winner) {
	t.Helper()
	want := 0
	for _, w := range winners {
		want += w.rect.Area()
		var n int
		const sql = `SELECT count(*) FROM blocks b JOIN rentals r ON r.id = b.claim_id
			WHERE r.key = $1 AND b.x >= $2 AND b.x < $2::int + $3 AND b.y >= $4 AND b.y < $4::int + $5`
		if err := pool.QueryRow(t.Context(), sql, w.id, w.rect.X, w.rect.W, w.rect.Y, w.rect.H).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n != w.rect.Area() {
			t.Errorf("winner of %v has %d of %d blocks", w.rect, n, w.rect.Area())
		}
	}
	var taken int
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM blocks WHERE leased_until > now()`).Scan(&taken); err != nil {
		t.Fatal(err)
	}
	if taken != want {
		t.Errorf("%d blocks are taken, the winners have %d", taken, want)
	}
}

// quiet says that PostgreSQL met no deadlock.
func quiet(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	var deadlocks int
	const sql = `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`
	if err := pool.QueryRow(t.Context(), sql).Scan(&deadlocks); err != nil {
		t.Fatal(err)
	}
	if deadlocks > 0 {
		t.Errorf("%d deadlocks", deadlocks)
	}
}

// A server is killed in the middle of a rush. What was answered stands, what
// was not is whole or nothing, and its peer goes on.
func TestKillInTheMiddleOfARush(t *testing.T) {
	url := testdb.URL(t)
	victim := start(t, append(roomy(), "DATABASE_URL="+url, "TUVAL_HOLD_TTL=30m", "TUVAL_HOLD_MAX=120m")...)
	peer := start(t, append(roomy(), "DATABASE_URL="+url, "TUVAL_HOLD_TTL=30m", "TUVAL_HOLD_MAX=120m")...)
	c := crowd(64)
	var held sync.Map
	var answered atomic.Int64
	enough := make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	var people sync.WaitGroup
	for i := range 64 {
		people.Go(func() {
			rnd := rand.New(rand.NewPCG(7, uint64(i)))
			for ctx.Err() == nil {
				rect := grid.Rect{X: rnd.IntN(95), Y: rnd.IntN(95), W: 1 + rnd.IntN(5), H: 1 + rnd.IntN(5)}
				a := c.hold(victim.base, rect)
				if a.err != nil {
					return // it was killed
				}
				if a.status == http.StatusCreated {
					held.Store(a.id, rect)
				}
				if answered.Add(1) == 200 {
					close(enough)
				}
			}
		})
	}
	<-enough
	victim.kill()
	stop()
	people.Wait()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	n := 0
	held.Range(func(id, rect any) bool {
		n++
		var blocks int
		const sql = `SELECT count(*) FROM blocks b JOIN rentals r ON r.id = b.claim_id WHERE r.key = $1`
		if err := pool.QueryRow(t.Context(), sql, id).Scan(&blocks); err != nil {
			t.Fatal(err)
		}
		if blocks != rect.(grid.Rect).Area() {
			t.Errorf("a hold that was answered has %d of %d blocks", blocks, rect.(grid.Rect).Area())
		}
		return true
	})
	if n == 0 {
		t.Fatal("nobody held anything before the kill")
	}
	if a := c.hold(peer.base, grid.Rect{X: 99, Y: 99, W: 1, H: 1}); a.err != nil || a.status != http.StatusCreated && a.status != http.StatusConflict {
		t.Errorf("the peer answers %+v", a)
	}
	sound(t, url)
}
