package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/web/reply"
)

// eventJSON is one line of the ledger. Blocks and Amount are signed.
type eventJSON struct {
	Position    string    `json:"position"`
	Kind        string    `json:"kind"`
	RecordedAt  time.Time `json:"recorded_at"`
	EffectiveAt time.Time `json:"effective_at"`
	RentalID    string    `json:"rental_id,omitempty"`
	PaymentID   string    `json:"payment_id,omitempty"`
	RefundID    string    `json:"refund_id,omitempty"`
	Blocks      int       `json:"blocks"`
	Amount      int64     `json:"amount"` // minor units
	Currency    string    `json:"currency"`
	Actor       string    `json:"actor"`
}

type eventsJSON struct {
	Events []eventJSON `json:"events"`
	Next   string      `json:"next,omitempty"`
}

// position is where a reader of the ledger stands: behind the event with this
// transaction and id. Ids alone are given out in another order than the one
// in which transactions commit, so a reader that went by them would miss some.
type position struct{ xid, id uint64 }

func (p position) String() string { return fmt.Sprintf("%d.%d", p.xid, p.id) }

func parsePosition(s string) (position, error) {
	if s == "" {
		return position{}, nil
	}
	xid, id, _ := strings.Cut(s, ".")
	var p position
	var err1, err2 error
	p.xid, err1 = strconv.ParseUint(xid, 10, 64)
	p.id, err2 = strconv.ParseUint(id, 10, 63)
	if err1 != nil || err2 != nil || p.String() != s {
		return p, fault.Field("since", "since must be the position of an event, as an earlier answer gave it")
	}
	return p, nil
}

// eventsPage is how many events one answer has.
const eventsPage = 500

// ledger lists events behind a position, in their order.
func (a *api) ledger(w http.ResponseWriter, r *http.Request) error {
	if _, err := a.admin(r); err != nil {
		return err
	}
	since, err := param(r, "since")
	if err != nil {
		return err
	}
	from, err := parsePosition(since)
	if err != nil {
		return err
	}
	events, err := a.eventsBehind(r.Context(), from, eventsPage+1)
	if err != nil {
		return err
	}
	list := eventsJSON{Events: events}
	if len(events) > eventsPage {
		list.Events = events[:eventsPage]
		list.Next = list.Events[eventsPage-1].Position
	}
	reply.JSON(w, r, http.StatusOK, list)
	return nil
}

// sqlEvents reads below the oldest transaction that still runs: whatever
// commits later stands behind all of it.
const sqlEvents = `
	SELECT l.xid::text || '.' || l.id, l.kind, l.recorded_at, l.effective_at,
	       COALESCE(r.key, ''), COALESCE(p.key, ''), COALESCE(f.key, ''), l.blocks, l.amount, l.currency, l.actor
	FROM ledger l
	LEFT JOIN rentals r ON r.id = l.claim_id
	LEFT JOIN payments p ON p.id = l.payment_id
	LEFT JOIN refunds f ON f.id = l.refund_id
	WHERE l.xid < pg_snapshot_xmin(pg_current_snapshot()) AND (l.xid, l.id) > (@xid::text::xid8, @id::bigint)
	ORDER BY l.xid, l.id LIMIT @limit`

func (a *api) eventsBehind(ctx context.Context, from position, limit int) ([]eventJSON, error) {
	args := pgx.NamedArgs{"xid": strconv.FormatUint(from.xid, 10), "id": int64(from.id), "limit": limit}
	rows, err := a.Pool.Query(ctx, sqlEvents, args)
	if err != nil {
		return nil, db.Explain("api: read the ledger", err)
	}
	events, err := pgx.CollectRows(rows, pgx.RowToStructByPos[eventJSON])
	return append([]eventJSON{}, events...), db.Explain("api: read the ledger", err)
}
