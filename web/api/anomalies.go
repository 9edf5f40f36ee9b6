package api

import (
	"net/http"
	"time"

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
	list := anomaliesJSON{Anomalies: []anomalyJSON{}, Next: next}
	for _, x := range page {
		list.Anomalies = append(list.Anomalies, anomalyJSON{
			ID: x.Key, Kind: x.Kind, RentalID: x.RentalKey, PaymentID: x.PaymentKey, RefundID: x.RefundKey,
			Message: x.Message, FirstSeen: x.FirstSeen, LastSeen: x.LastSeen, Action: x.Action, ResolvedAt: x.Resolved,
		})
	}
	reply.JSON(w, r, http.StatusOK, list)
	return nil
}
