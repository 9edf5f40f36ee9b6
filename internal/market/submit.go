package market

import (
	"context"

	"github.com/jackc/pgx/v5"

	"tuval/internal/creative"
	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/ident"
	"tuval/internal/ledger"
	"tuval/internal/rental"
)

// Submission is what a buyer wants to show. Its pictures are already fitted
// to the rental's rect, its texts and link already judged.
type Submission struct {
	Link, LinkHost string
	Title, Alt     string
	Fit            string
	Picture        creative.Picture // 1x
	Picture2x      creative.Picture
}

// MaySubmit reports whether the rental takes pictures now: it is paid, live or
// ended. Otherwise the fault says why not.
func (m *Market) MaySubmit(ctx context.Context, who Who, key string) (rental.Rental, error) {
	r, err := m.mine(ctx, key, who.Viewer)
	if err != nil {
		return r, err
	}
	now, err := rental.Now(ctx, m.pool)
	if err != nil {
		return r, err
	}
	r = r.At(now, m.terms())
	return r, takesPictures(r)
}

func takesPictures(r rental.Rental) error {
	switch r.State {
	case rental.Paid, rental.Live, rental.Ended:
		return nil
	case rental.Closed:
		return fault.New(fault.Conflict, "This rental is closed. It takes no pictures any more.")
	case rental.Held, rental.Paying:
	}
	return fault.New(fault.Conflict, "This rental is not paid yet. A picture can be sent once it is.")
}

// Submit stores the next revision of what the rental shows. It waits for
// review; what is on the canvas stays until it is approved. An older revision
// that still waits leaves the queue.
func (m *Market) Submit(ctx context.Context, who Who, key string, s Submission, req Request) (creative.Creative, error) {
	found, err := m.mine(ctx, key, who.Viewer)
	if err != nil {
		return creative.Creative{}, err
	}
	// Bytes first, outside the transaction: they are addressed by content,
	// and one that no revision names is swept up.
	for _, p := range []creative.Picture{s.Picture, s.Picture2x} {
		if err := creative.Keep(ctx, m.pool, p); err != nil {
			return creative.Creative{}, err
		}
	}
	return once(ctx, m, "submit", req, func(ctx context.Context, tx pgx.Tx) (creative.Creative, error) {
		r, now, err := lockNow(ctx, tx, found.ID)
		if err != nil {
			return creative.Creative{}, err
		}
		if err := takesPictures(r.At(now, m.terms())); err != nil {
			return creative.Creative{}, err
		}
		if err := creative.Supersede(ctx, tx, r.ID); err != nil {
			return creative.Creative{}, err
		}
		c, err := creative.Insert(ctx, tx, creative.Creative{
			Key: ident.New(), Rental: r.ID, Link: s.Link, LinkHost: s.LinkHost, Title: s.Title, Alt: s.Alt, Fit: s.Fit,
			Picture: s.Picture.Hash, Picture2x: s.Picture2x.Hash,
		})
		if err != nil {
			return c, err
		}
		return c, ledger.Append(ctx, tx, about(r, ledger.CreativeSubmitted, ledger.Buyer))
	})
}

// Pictures lists a rental's revisions for its owner or an admin, the newest
// first.
func (m *Market) Pictures(ctx context.Context, q db.Querier, id rental.ID) ([]creative.Creative, error) {
	return creative.OfRental(ctx, q, id)
}
