package stripesim_test

import (
	"net/http"
	"testing"

	"github.com/stripe/stripe-go/v76"

	"tuval/internal/stripesim"
)

func TestPayingTakesTheMoneyAndTells(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := s.newSession().ID
	must[*stripesim.Session](t)(s.sim.Pay(t.Context(), id, stripesim.Payment{}))
	p := &stripe.CheckoutSessionParams{}
	p.AddExpand("payment_intent.latest_charge")
	paid := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Get(id, p))
	intent, charge := paid.PaymentIntent, paid.PaymentIntent.LatestCharge
	switch {
	case paid.Status != "complete", paid.PaymentStatus != "paid", paid.URL != "", paid.CustomerDetails.Email != "buyer@example.com",
		intent.Status != "succeeded", intent.AmountReceived != 960000, intent.Metadata["payment_id"] != "pay_1",
		charge.Amount != 960000, !charge.Paid, charge.Refunded, charge.PaymentIntent.ID != intent.ID, charge.Metadata["rental_id"] != "r1":
		t.Errorf("paid: %+v\nintent: %+v\ncharge: %+v", paid, intent, charge)
	}
	s.ear.wants("payment_intent.succeeded", "checkout.session.completed")
	session, event := object[stripe.CheckoutSession](t, s.ear, "checkout.session.completed")
	if session.ID != id || session.PaymentStatus != "paid" || session.Metadata["payment_id"] != "pay_1" ||
		event.APIVersion != stripe.APIVersion || event.Livemode || event.Request.ID != "" || event.Created == 0 {
		t.Errorf("the event is %+v over %+v", event, session)
	}
	told, _ := object[stripe.PaymentIntent](t, s.ear, "payment_intent.succeeded")
	if told.ID != intent.ID || told.LatestCharge.ID != charge.ID {
		t.Errorf("the event tells of %+v", told)
	}
	must[*stripe.PaymentIntent](t)(s.api.PaymentIntents.Get(intent.ID, nil))
	must[*stripe.Charge](t)(s.api.Charges.Get(charge.ID, nil))
}

func TestTwoPayersOfOneSessionMakeOneCharge(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for range 5 {
		id := s.newSession().ID
		errs := crowd(20, func(i int) error {
			_, err := s.sim.Pay(t.Context(), id, stripesim.Payment{Late: i%2 == 0, Pending: i%3 == 0})
			return err
		})
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			conflict(t, err)
		}
		var charges int
		if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM stripesim.charges c JOIN stripesim.payment_intents p
			ON p.id = c.payment_intent WHERE p.session = $1`, id).Scan(&charges); err != nil {
			t.Fatal(err)
		}
		if won != 1 || charges != 1 {
			t.Errorf("%d payers won, %d charges", won, charges)
		}
	}
}

func TestPayExpireAndTimeAgreeOnOneWinner(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for range 10 {
		id := s.newSession().ID
		errs := crowd(8, func(i int) error {
			if i%2 == 0 {
				_, err := s.sim.Pay(t.Context(), id, stripesim.Payment{})
				return err
			}
			_, err := s.api.CheckoutSessions.Expire(id, nil)
			return err
		})
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			}
		}
		if won != 1 {
			t.Errorf("%d of pay and expire won", won)
		}
	}
}

func TestADeclinedCardLeavesTheSessionOpen(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := s.newSession().ID
	for range 2 {
		open := must[*stripesim.Session](t)(s.sim.Decline(t.Context(), id))
		if open.Status != "open" || open.PaymentStatus != "unpaid" {
			t.Errorf("after a decline: %s, %s", open.Status, open.PaymentStatus)
		}
	}
	s.ear.wants("payment_intent.payment_failed", "payment_intent.payment_failed")
	failed, _ := object[stripe.PaymentIntent](t, s.ear, "payment_intent.payment_failed")
	if failed.Status != "requires_payment_method" || failed.LastPaymentError.Code != "card_declined" || failed.AmountReceived != 0 {
		t.Errorf("the intent is %+v", failed)
	}
	paid := must[*stripesim.Session](t)(s.sim.Pay(t.Context(), id, stripesim.Payment{}))
	if paid.PaymentIntent.ID != failed.ID {
		t.Error("the second try has another payment intent")
	}
	intent := must[*stripe.PaymentIntent](t)(s.api.PaymentIntents.Get(failed.ID, nil))
	if intent.Status != "succeeded" || intent.LastPaymentError != nil {
		t.Errorf("after paying: %+v", intent)
	}
	_, err := s.sim.Decline(t.Context(), id)
	conflict(t, err)
}

func TestABankDebitArrivesOrNot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settle      func(s *stage, id string) (*stripesim.Session, error)
		event, paid string
		again       func(s *stage, id string) (*stripesim.Session, error)
	}{
		"arrives": {
			func(s *stage, id string) (*stripesim.Session, error) { return s.sim.AsyncSucceed(t.Context(), id) },
			"checkout.session.async_payment_succeeded", "paid",
			func(s *stage, id string) (*stripesim.Session, error) { return s.sim.AsyncFail(t.Context(), id) },
		},
		"fails": {
			func(s *stage, id string) (*stripesim.Session, error) { return s.sim.AsyncFail(t.Context(), id) },
			"checkout.session.async_payment_failed", "unpaid",
			func(s *stage, id string) (*stripesim.Session, error) { return s.sim.AsyncSucceed(t.Context(), id) },
		},
	} {
		s := newStage(t)
		id := s.newSession().ID
		_, err := s.sim.AsyncSucceed(t.Context(), id)
		conflict(t, err)
		pending := must[*stripesim.Session](t)(s.sim.Pay(t.Context(), id, stripesim.Payment{Pending: true}))
		if pending.Status != "complete" || pending.PaymentStatus != "unpaid" {
			t.Errorf("%s: under way it is %s, %s", name, pending.Status, pending.PaymentStatus)
		}
		_, err = s.api.Refunds.New(&stripe.RefundParams{PaymentIntent: &pending.PaymentIntent.ID})
		refusal(t, err, http.StatusBadRequest, "charge_not_refundable", "charge")
		settled := must[*stripesim.Session](t)(c.settle(s, id))
		if settled.Status != "complete" || settled.PaymentStatus != c.paid {
			t.Errorf("%s: settled it is %s, %s", name, settled.Status, settled.PaymentStatus)
		}
		_, err = c.again(s, id)
		conflict(t, err)
		s.ear.wants("checkout.session.completed", c.event)
		told, _ := object[stripe.CheckoutSession](t, s.ear, "checkout.session.completed")
		if told.PaymentStatus != "unpaid" {
			t.Errorf("%s: completed was told with %s", name, told.PaymentStatus)
		}
	}
}

func TestLateMoney(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	byHand, byTime := s.newSession().ID, s.newSession().ID
	must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Expire(byHand, nil))
	s.age(31)
	for _, id := range []string{byHand, byTime} {
		_, err := s.sim.Pay(t.Context(), id, stripesim.Payment{})
		conflict(t, err)
		late := must[*stripesim.Session](t)(s.sim.Pay(t.Context(), id, stripesim.Payment{Late: true}))
		if late.Status != "complete" || late.PaymentStatus != "paid" {
			t.Errorf("late it is %s, %s", late.Status, late.PaymentStatus)
		}
		_, err = s.sim.Pay(t.Context(), id, stripesim.Payment{Late: true})
		conflict(t, err)
	}
	s.ear.wants("checkout.session.expired", "checkout.session.completed", "checkout.session.completed")
}

func TestAWrongChargeCanBeMade(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := s.newSession().ID
	var told stripesim.Session
	s.post("/sim/sessions/"+id+"/pay", `{"amount":959999,"currency":"eur","email":"other@example.com"}`, http.StatusOK, &told)
	found := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Get(id, nil))
	intent := must[*stripe.PaymentIntent](t)(s.api.PaymentIntents.Get(found.PaymentIntent.ID, nil))
	if found.AmountTotal != 959999 || found.Currency != "eur" || intent.Amount != 959999 || found.CustomerDetails.Email != "other@example.com" {
		t.Errorf("charged %d %s", found.AmountTotal, found.Currency)
	}
}
