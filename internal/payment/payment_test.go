package payment_test

import (
	"testing"
	"time"

	"tuval/internal/money"
	"tuval/internal/payment"
)

func usd(n int64) money.Money { return money.Money{Amount: n, Currency: "usd"} }

// What is left counts what is on its way, not what failed, and only its own.
func TestLeftOf(t *testing.T) {
	t.Parallel()
	p := payment.Payment{ID: 1, Amount: usd(1000)}
	rs := []payment.Refund{
		{Payment: 1, Amount: usd(100), State: payment.RefundPending},
		{Payment: 1, Amount: usd(200), State: payment.RefundSucceeded},
		{Payment: 1, Amount: usd(400), State: payment.RefundFailed},
		{Payment: 2, Amount: usd(50), State: payment.RefundSucceeded},
	}
	if left := payment.LeftOf(p, rs); left != 700 {
		t.Errorf("%d left", left)
	}
	if left := payment.LeftOf(p, nil); left != 1000 {
		t.Errorf("%d left", left)
	}
}

func TestSamePurchase(t *testing.T) {
	t.Parallel()
	at := time.Date(2027, 1, 2, 3, 0, 0, 0, time.UTC)
	elsewhere, later := at.In(time.FixedZone("India", 19800)), at.Add(time.Hour)
	p := payment.Payment{Purpose: payment.New, Weeks: 2, Email: "a@b", Amount: money.Money{Amount: 5, Currency: "usd"}}
	with := func(change func(*payment.Payment)) payment.Payment {
		q := p
		change(&q)
		return q
	}
	q := with(func(q *payment.Payment) { q.GoLiveAt = &at })
	for name, c := range map[string]struct {
		same bool
		want bool
	}{
		"the same":         {p.SamePurchase(p), true},
		"other weeks":      {p.SamePurchase(with(func(q *payment.Payment) { q.Weeks = 3 })), false},
		"another purpose":  {p.SamePurchase(with(func(q *payment.Payment) { q.Purpose = payment.Extend })), false},
		"another price":    {p.SamePurchase(with(func(q *payment.Payment) { q.Amount.Amount = 6 })), false},
		"another address":  {p.SamePurchase(with(func(q *payment.Payment) { q.Email = "c@d" })), false},
		"a start":          {p.SamePurchase(q), false},
		"no start":         {q.SamePurchase(p), false},
		"the same instant": {q.SamePurchase(with(func(q *payment.Payment) { q.GoLiveAt = &elsewhere })), true},
		"another start":    {q.SamePurchase(with(func(q *payment.Payment) { q.GoLiveAt = &later })), false},
	} {
		if c.same != c.want {
			t.Errorf("%s: %v", name, c.same)
		}
	}
}
