package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"

	"tuval/internal/board"
	"tuval/internal/grid"
	"tuval/internal/money"
	"tuval/web/reply"
)

// shown is the answer made of the newest snapshot. Most people ask for the
// same one, so it is written down once.
type shown struct{ last atomic.Pointer[answer] }

type answer struct {
	of   *board.Snapshot
	body []byte
	etag string
}

type boardJSON struct {
	Revision string       `json:"revision"`
	Grid     gridJSON     `json:"grid"`
	Price    money.Money  `json:"price"` // of one block for a week
	Counts   board.Counts `json:"counts"`
	Image    imageJSON    `json:"image"`
	Areas    []board.Area `json:"areas"`
}

type gridJSON struct {
	Cols    int `json:"cols"`
	Rows    int `json:"rows"`
	BlockPx int `json:"block_px"`
}

type imageJSON struct {
	URL     string `json:"url"`
	Preview string `json:"preview_url"`
}

// board is the canvas. It says nothing of who rents, and is the same for
// everybody.
func (a *api) board(w http.ResponseWriter, r *http.Request) error {
	s, err := a.Board.Snapshot(r.Context())
	if err != nil {
		return err
	}
	found := a.shown.last.Load()
	if found == nil || found.of != s {
		if found, err = a.write(s); err != nil {
			return err
		}
		a.shown.last.Store(found)
	}
	w.Header().Set("Cache-Control", "public, no-cache")
	reply.Bytes(w, r, found.etag, "application/json", found.body)
	return nil
}

func (a *api) write(s *board.Snapshot) (*answer, error) {
	rules := a.Market.Rules()
	price, ok := money.Weekly(grid.BlockPx*grid.BlockPx, rules.PricePerPixel)
	if !ok {
		return nil, fmt.Errorf("api: the price of a block does not fit")
	}
	b := boardJSON{
		Revision: s.Revision, Grid: gridJSON{Cols: grid.Cols, Rows: grid.Rows, BlockPx: grid.BlockPx},
		Price: rules.Currency.Of(price), Counts: s.Counts, Areas: s.Areas,
		Image: imageJSON{URL: "/canvas/" + s.Revision + ".png", Preview: "/canvas/" + s.Revision + ".webp"},
	}
	body, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("api: write the board: %w", err)
	}
	body = append(body, '\n')
	return &answer{of: s, body: body, etag: etag(body)}, nil
}

// etag names a body by its content: it is the same in every process.
func etag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}
