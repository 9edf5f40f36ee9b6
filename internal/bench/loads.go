package main

import (
	"fmt"
	"math/rand/v2"

	"tuval/internal/grid"
	"tuval/internal/turnstile"
)

// load is a kind of rush: which rects the clients want.
type load struct {
	name    string
	title   string
	clients int // usual number
	rect    func(claim int64) grid.Rect
	pgbench string // the same in pgbench's language: sets y1, y2, x1, x2 from c
}

// Each client has claims of its own, one of which it makes at a time.
const (
	claimsEach = 16
	maxClients = 256
)

// claim is the n-th claim of a client; ids begin at 1.
func claimOf(client, n int) int64 { return int64(1 + client*claimsEach + n) }

// pgbenchClaim is claimOf with a random n, in pgbench's language.
const pgbenchClaim = "\\set n random(0, 15)\n\\set c 1 + :client_id * 16 + :n\n"

func (l load) lease(r *rand.Rand, client int) turnstile.Lease {
	id := claimOf(client, r.IntN(claimsEach))
	return turnstile.Lease{Claim: turnstile.ClaimID(id), Rect: l.rect(id)}
}

func loads() []load {
	return []load{
		{
			name: "overlapping", title: "heavily overlapping, up to 20 x 20", clients: 32,
			rect: func(claim int64) grid.Rect {
				m := claim * 2654435761 % 4294967296 // scatters; pgbench can say it too
				return grid.Rect{
					X: int(m / 8 % 20), Y: int(m / 512 % 20),
					W: int(1 + m/32768%20), H: int(1 + m/2097152%20),
				}
			},
			pgbench: `\set m :c * 2654435761 % 4294967296
\set x1 :m / 8 % 20
\set y1 :m / 512 % 20
\set x2 :x1 + :m / 32768 % 20
\set y2 :y1 + :m / 2097152 % 20
`,
		},
		{
			name: "hot", title: "one hot 6 x 4 rect", clients: 64,
			rect:    func(int64) grid.Rect { return grid.Rect{X: 47, Y: 48, W: 6, H: 4} },
			pgbench: "\\set x1 47\n\\set y1 48\n\\set x2 52\n\\set y2 51\n",
		},
		{
			name: "disjoint", title: "disjoint 6 x 4 rects", clients: 32,
			rect: func(claim int64) grid.Rect {
				client := int((claim - 1) / claimsEach)
				return grid.Rect{X: client % 16 * 6, Y: client / 16 * 4, W: 6, H: 4}
			},
			pgbench: "\\set x1 :client_id % 16 * 6\n\\set y1 :client_id / 16 * 4\n\\set x2 :x1 + 5\n\\set y2 :y1 + 3\n",
		},
	}
}

// insertClaims is SQL that gives each claim of the load its row.
func (l load) insertClaims() (string, []any) {
	var ids []int64
	var xs, ys, ws, hs []int
	for id := claimOf(0, 0); id < claimOf(maxClients, 0); id++ {
		r := l.rect(id)
		ids, xs, ys, ws, hs = append(ids, id), append(xs, r.X), append(ys, r.Y), append(ws, r.W), append(hs, r.H)
	}
	return `
		WITH p AS (INSERT INTO persons DEFAULT VALUES RETURNING id)
		INSERT INTO rentals (id, key, public_id, person_id, address, x, y, w, h, state, price_per_week, currency, counted_from, leased_until)
		SELECT c.id, c.id::text, c.id::text, p.id, '', c.x, c.y, c.w, c.h, 'held', 1, 'usd', now(), now() + interval '1 day'
		FROM p, unnest($1::int8[], $2::int2[], $3::int2[], $4::int2[], $5::int2[]) AS c(id, x, y, w, h)`, []any{ids, xs, ys, ws, hs}
}

func (l load) String() string { return fmt.Sprintf("%s, %d clients", l.title, l.clients) }
