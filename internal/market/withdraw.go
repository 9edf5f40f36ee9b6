package market

import (
	"context"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/ledger"
	"tuval/internal/mailtext"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// Withdraw gives a paid rental back before its first picture is approved: it is
// closed and all its money goes back. It refuses with Conflict once a picture
// is approved, and when the rental is not paid or closed.
func (m *Market) Withdraw(ctx context.Context, who Who, key string) error {
	found, err := m.mine(ctx, key, who.Viewer)
	if err != nil {
		return err
	}
	if err := m.Settle(ctx, found.ID); err != nil {
		return err
	}
	return db.InTx(ctx, m.pool, "withdraw", func(ctx context.Context, tx pgx.Tx) error {
		fx := &effects{}
		r, now, err := lockNow(ctx, tx, found.ID)
		if err != nil {
			return err
		}
		if !mayWithdraw(r.At(now, m.terms())) {
			return fault.New(fault.Conflict, "A rental can be withdrawn once it is paid, until its first picture is approved. "+standing(r.At(now, m.terms())))
		}
		ps, err := payment.LockOfRental(ctx, tx, r.ID)
		if err != nil {
			return err
		}
		total, err := m.refundAll(ctx, tx, ps, payment.ReasonWithdrawn, ledger.Buyer, fx)
		if err != nil {
			return err
		}
		move := rental.Move{To: rental.Closed, Reason: rental.Cancelled, At: now}
		if r, err = m.closing(ctx, tx, r, move, ledger.Buyer, fx); err != nil {
			return err
		}
		m.mailCancelled(r, ps, total, mailtext.Withdrawn, "", fx)
		if err := release(ctx, tx, r); err != nil {
			return err
		}
		return m.write(ctx, tx, fx)
	})
}

func mayWithdraw(r rental.Rental) bool { return r.State == rental.Paid && r.LiveFrom == nil }

// CorrectContact changes the address that mails about a rental go to, as long
// as nobody has confirmed it. It refuses with Conflict afterwards, on a hold
// without one and on a closed rental.
func (m *Market) CorrectContact(ctx context.Context, who Who, key, email string) error {
	found, err := m.mine(ctx, key, who.Viewer)
	if err != nil {
		return err
	}
	return db.InTx(ctx, m.pool, "correct contact", func(ctx context.Context, tx pgx.Tx) error {
		r, now, err := lockNow(ctx, tx, found.ID)
		if err != nil {
			return err
		}
		if err := mayCorrect(r.At(now, m.terms())); err != nil {
			return err
		}
		if *r.Email == email {
			return nil
		}
		was := r
		r.Email = &email
		if err := rental.Write(ctx, tx, was, r); err != nil {
			return err
		}
		return ledger.Append(ctx, tx, about(r, ledger.ContactCorrected, ledger.Buyer))
	})
}

func mayCorrect(r rental.Rental) error {
	switch {
	case r.State == rental.Closed:
		return fault.New(fault.Conflict, "This rental is closed. Nothing will be mailed about it any more.")
	case r.PaidAt == nil:
		return fault.New(fault.Conflict, "The address of a rental that is not paid yet is the one that you pay with.")
	case r.AccountID != nil:
		return fault.New(fault.Conflict, "The address of this rental was confirmed. It cannot be changed any more.")
	}
	return nil
}
