package app

import (
	"context"
	"fmt"
	"io"
	"time"

	"tuval/internal/age"
	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
)

// lifePlace is where the demo's whole life happens, out of the way.
func lifePlace() grid.Rect { return grid.Rect{X: 94, Y: 96, W: 4, H: 3} }

// life is one rental that is lived through from the hold to the free blocks,
// by moving all data into the past between its steps.
type life struct {
	demo
	out  io.Writer
	who  market.Who
	held market.Held
}

// step is one thing that happens to it.
type step struct {
	what string
	do   func(ctx context.Context) error
}

func (l *life) steps() []step {
	const day, week = 24 * time.Hour, 168 * time.Hour
	return []step{
		{"the buyer holds it", l.hold},
		{"keeps the hold", func(ctx context.Context) error {
			_, err := l.market.Keep(ctx, l.who, l.held.Key, market.Request{})
			return err
		}},
		{"pays for two weeks", l.pay(func(ctx context.Context) (market.Offer, error) {
			return l.market.Checkout(ctx, l.who, l.held.Key, market.Purchase{Weeks: 2, Email: "buyer@example.com"})
		})},
		{"three days later a picture is rejected", l.after(3*day, func(ctx context.Context) error { return l.submit(ctx, false) })},
		{"two days later another one is approved", l.after(2*day, func(ctx context.Context) error { return l.submit(ctx, true) })},
		{"a week before the end there is a reminder", l.after(week+time.Hour, l.remind("7 days to the end"))},
		{"it is extended by a week", l.pay(func(ctx context.Context) (market.Offer, error) {
			return l.market.Extend(ctx, l.who, l.held.Key, market.More{Weeks: 1})
		})},
		{"two weeks later it ends; the place is reserved", l.after(2*week, l.settle)},
		{"a day later it is renewed by a week", l.after(day, l.pay(func(ctx context.Context) (market.Offer, error) {
			return l.market.Renew(ctx, l.who, l.held.Key, market.More{Weeks: 1})
		}))},
		{"a week later it ends again", l.after(week, l.settle)},
		{"48 hours later its blocks are free", l.after(2*day, l.settle)},
	}
}

// live goes through all steps and tells of each.
func (l *life) live(ctx context.Context) error {
	p := lifePlace()
	fmt.Fprintf(l.out, "one rental, from the hold to the free blocks, at column %d, row %d:\n", p.X+1, p.Y+1)
	for _, s := range l.steps() {
		if err := s.do(ctx); err != nil {
			return fmt.Errorf("demo: %s: %w", s.what, err)
		}
		d, err := l.market.Look(ctx, l.held.Key, l.who.Viewer)
		if err != nil {
			return fmt.Errorf("demo: %s: %w", s.what, err)
		}
		fmt.Fprintf(l.out, "  %-50s %s\n", s.what, standing(d.Rental))
	}
	var mails int
	if err := l.Pool.QueryRow(ctx, `SELECT count(*) FROM mails WHERE rental_id = $1`, l.held.ID).Scan(&mails); err != nil {
		return fmt.Errorf("demo: count the mails: %w", err)
	}
	fmt.Fprintf(l.out, "  %d mails tell of it at /dev/mail, its steps are drawn under /admin/rentals/%s\n", mails, l.held.Key)
	return nil
}

func standing(r rental.Rental) string {
	if r.ClosedReason != nil {
		return string(r.State) + " (" + string(*r.ClosedReason) + ")"
	}
	return string(r.State)
}

func (l *life) hold(ctx context.Context) error {
	l.who = market.Who{Address: []byte("demo")}
	var err error
	l.held, err = l.market.Hold(ctx, l.who, lifePlace(), market.Request{})
	l.who.Persons = []int64{l.held.Person}
	return err
}

// pay opens a page, pays it at the simulator and books it.
func (l *life) pay(open func(context.Context) (market.Offer, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		offer, err := open(ctx)
		if err != nil {
			return err
		}
		p, err := payment.ByKey(ctx, l.Pool, offer.PaymentKey)
		if err != nil {
			return err
		}
		if _, err := l.sim.Pay(ctx, *p.SessionID, stripesim.Payment{}); err != nil {
			return err
		}
		return l.market.Return(ctx, l.who, l.held.Key)
	}
}

// after lets time pass first.
func (l *life) after(by time.Duration, do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := age.Move(ctx, l.Pool, by); err != nil {
			return err
		}
		return do(ctx)
	}
}

func (l *life) settle(ctx context.Context) error { return l.market.Settle(ctx, l.held.ID) }

func (l *life) remind(why string) func(context.Context) error {
	return func(ctx context.Context) error { return l.market.Remind(ctx, l.held.ID, why) }
}

func (l *life) submit(ctx context.Context, approve bool) error {
	reason := "The picture is too dark to be read. Please send a lighter one."
	return l.decide(ctx, l.who, l.held, 3, "A life", approve, reason)
}
