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
	p, q := payment.Payment{Weeks: 2, Email: "a@b"}, payment.Payment{Weeks: 2, Email: "a@b", GoLiveAt: &at}
	for name, c := range map[string]struct {
		same bool
		want bool
	}{
		"the same":         {p.SamePurchase(2, "a@b", nil), true},
		"other weeks":      {p.SamePurchase(3, "a@b", nil), false},
		"another address":  {p.SamePurchase(2, "c@d", nil), false},
		"a start":          {p.SamePurchase(2, "a@b", &at), false},
		"no start":         {q.SamePurchase(2, "a@b", nil), false},
		"the same instant": {q.SamePurchase(2, "a@b", &elsewhere), true},
		"another start":    {q.SamePurchase(2, "a@b", &later), false},
	} {
		if c.same != c.want {
			t.Errorf("%s: %v", name, c.same)
		}
	}
}
