package market

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/gateway"
	"tuval/internal/ledger"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// disputed books what an event tells of a dispute, each dispute once and
// however its events are ordered: the money that the payer's bank took, and
// that it came back if that was decided. The rental is left as it is; an admin
// is told. It returns NotYet while the payment is not known.
func (m *Market) disputed(ctx context.Context, e gateway.Event) (string, error) {
	p, err := payment.ByIntent(ctx, m.pool, string(e.Object.Intent))
	if payment.IsNotFound(err) {
		return string(Foreign), nil
	}
	if err != nil {
		return "", err
	}
	if p.State != payment.Paid {
		return "", NotYet{Wait: 30 * time.Second}
	}
	err = db.InTx(ctx, m.pool, "book a dispute", func(ctx context.Context, tx pgx.Tx) error {
		fx := &effects{}
		if _, err := rental.Lock(ctx, tx, p.Rental); err != nil {
			return err
		}
		if err := bookDispute(ctx, tx, p, e.Object, fx); err != nil {
			return err
		}
		if len(fx.events) == 0 {
			return nil // said before
		}
		if err := reportTx(ctx, tx, disputeAnomaly(p, e.Object)); err != nil {
			return err
		}
		return m.write(ctx, tx, fx)
	})
	return "flagged", err
}

func bookDispute(ctx context.Context, tx pgx.Tx, p payment.Payment, o gateway.Object, fx *effects) error {
	d := payment.Dispute{ID: o.ID, Payment: p.ID, Amount: p.Amount, Reason: o.Reason}
	d.Amount.Amount = takenBy(o)
	opened, err := payment.OpenDispute(ctx, tx, d)
	if err != nil {
		return err
	}
	if opened {
		fx.event(disputeEvent(p, ledger.DisputeOpened, -d.Amount.Amount))
	}
	to, closed := decided(o.Status)
	if !closed {
		return nil
	}
	first, err := payment.CloseDispute(ctx, tx, o.ID, to)
	if err != nil || !first {
		return err
	}
	if to == payment.DisputeLost {
		fx.event(disputeEvent(p, ledger.DisputeLost, 0))
		return nil
	}
	back, err := amountOf(ctx, tx, p, o.ID)
	fx.event(disputeEvent(p, ledger.DisputeWon, back))
	return err
}

// takenBy is what a dispute takes away: nothing as long as the bank only asks.
func takenBy(o gateway.Object) int64 {
	if strings.HasPrefix(o.Status, "warning_") {
		return 0
	}
	return o.Amount
}

func decided(status string) (payment.DisputeState, bool) {
	switch status {
	case "won", "warning_closed", "prevented":
		return payment.DisputeWon, true
	case "lost", "charge_refunded":
		return payment.DisputeLost, true
	}
	return "", false
}

// amountOf is what was booked when the dispute was opened.
func amountOf(ctx context.Context, tx pgx.Tx, p payment.Payment, id string) (int64, error) {
	ds, err := payment.DisputesOf(ctx, tx, p.ID)
	for _, d := range ds {
		if d.ID == id {
			return d.Amount.Amount, err
		}
	}
	return 0, err
}

func disputeEvent(p payment.Payment, kind ledger.Kind, amount int64) ledger.Event {
	return ledger.Event{
		Kind: kind, Claim: int64(p.Rental), Payment: int64(p.ID), Amount: amount, Currency: p.Amount.Currency, Actor: ledger.Stripe,
	}
}

func disputeAnomaly(p payment.Payment, o gateway.Object) Anomaly {
	a := Anomaly{
		Kind: "dispute", Fact: "dispute:" + o.ID, Rental: p.Rental, Payment: p.ID,
		Message: fmt.Sprintf("A payment is disputed (%s, %s).", o.Reason, o.Status),
		Action:  "Answer the dispute at Stripe. The blocks stay as they are until you decide.",
	}
	if to, closed := decided(o.Status); closed {
		a.Kind, a.Fact = "dispute "+string(to), "dispute closed:"+o.ID
		a.Action = map[payment.DisputeState]string{
			payment.DisputeWon:  "The money is back. If it is owed to the buyer, refund it.",
			payment.DisputeLost: "The money is gone. Decide whether the rental may stay.",
		}[to]
	}
	return a
}
