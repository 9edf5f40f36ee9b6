package api

import (
	"context"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/market"
	"tuval/web/reply"
)

// anomalyJSON is something that needs a person's eye.
type anomalyJSON struct {
	ID         string     `json:"id"`
	Kind       string     `json:"kind"`
	RentalID   string     `json:"rental_id,omitempty"`
	PaymentID  string     `json:"payment_id,omitempty"`
	RefundID   string     `json:"refund_id,omitempty"`
	Message    string     `json:"message"`
	FirstSeen  time.Time  `json:"first_seen"`
	LastSeen   time.Time  `json:"last_seen"`
	Action     string     `json:"action"`
	ResolvedAt *time.Time `json:"resolved_at,omitempty"`
}

type anomaliesJSON struct {
	Anomalies []anomalyJSON `json:"anomalies"`
	Next      string        `json:"next,omitempty"`
}

// anomalies lists what is unresolved, the newest first.
func (a *api) anomalies(w http.ResponseWriter, r *http.Request) error {
	if _, err := a.admin(r); err != nil {
		return err
	}
	after, err := param(r, "next")
	if err != nil {
		return err
	}
	all, err := a.Market.Anomalies(r.Context(), mostListed)
	if err != nil {
		return err
	}
	page, next := pageOf(all, after, func(x market.Anomaly) string { return x.Key })
	payments, refunds, err := a.keysOf(r.Context(), page)
	if err != nil {
		return err
	}
	list := anomaliesJSON{Anomalies: []anomalyJSON{}, Next: next}
	for _, x := range page {
		list.Anomalies = append(list.Anomalies, anomalyJSON{
			ID: x.Key, Kind: x.Kind, RentalID: x.RentalKey, PaymentID: payments[int64(x.Payment)], RefundID: refunds[int64(x.Refund)],
			Message: x.Message, FirstSeen: x.FirstSeen, LastSeen: x.LastSeen, Action: x.Action, ResolvedAt: x.Resolved,
		})
	}
	reply.JSON(w, r, http.StatusOK, list)
	return nil
}

// keysOf are the keys of the payments and refunds that anomalies speak of.
func (a *api) keysOf(ctx context.Context, all []market.Anomaly) (payments, refunds map[int64]string, err error) {
	var ps, rs []int64
	for _, x := range all {
		ps, rs = append(ps, int64(x.Payment)), append(rs, int64(x.Refund))
	}
	if payments, err = a.keys(ctx, `SELECT id, key FROM payments WHERE id = ANY ($1)`, ps); err != nil {
		return nil, nil, err
	}
	refunds, err = a.keys(ctx, `SELECT id, key FROM refunds WHERE id = ANY ($1)`, rs)
	return payments, refunds, err
}

func (a *api) keys(ctx context.Context, sql string, ids []int64) (map[int64]string, error) {
	rows, err := a.Pool.Query(ctx, sql, ids)
	if err != nil {
		return nil, db.Explain("api: read keys", err)
	}
	keys := map[int64]string{}
	var id int64
	var key string
	_, err = pgx.ForEachRow(rows, []any{&id, &key}, func() error {
		keys[id] = key
		return nil
	})
	return keys, db.Explain("api: read keys", err)
}
