package stripesim_test

import (
	"net/http"
	"testing"

	"github.com/stripe/stripe-go/v76"

	"tuval/internal/stripesim"
)

func refundOf(c *stripe.CheckoutSession, amount int64) *stripe.RefundParams {
	p := &stripe.RefundParams{PaymentIntent: &c.PaymentIntent.ID}
	if amount > 0 {
		p.Amount = &amount
	}
	return p
}

func TestAFullRefund(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	paid := s.paid()
	p := refundOf(paid, 0)
	p.Reason = stripe.String("requested_by_customer")
	p.Metadata = map[string]string{"refund_id": "ref_1"}
	p.AddExpand("charge")
	p.AddExpand("payment_intent")
	made := must[*stripe.Refund](t)(s.api.Refunds.New(p))
	if made.Amount != 960000 || made.Status != "succeeded" || made.Reason != "requested_by_customer" || made.Metadata["refund_id"] != "ref_1" ||
		!made.Charge.Refunded || made.Charge.AmountRefunded != 960000 || made.PaymentIntent.AmountReceived != 960000 {
		t.Errorf("the refund is %+v", made)
	}
	_, err := s.api.Refunds.New(refundOf(paid, 0))
	refusal(t, err, http.StatusBadRequest, "charge_already_refunded", "charge")
	s.ear.wants("refund.created", "charge.refunded")
	charge, event := object[stripe.Charge](t, s.ear, "charge.refunded")
	if !charge.Refunded || charge.AmountRefunded != 960000 || event.Data.PreviousAttributes["amount_refunded"] != float64(0) || event.Request.ID == "" {
		t.Errorf("the event tells of %+v", charge)
	}
}

func TestRefundsInParts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	paid := s.paid()
	must[*stripe.Refund](t)(s.api.Refunds.New(refundOf(paid, 200000)))
	must[*stripesim.Refund](t)(s.sim.DashboardRefund(t.Context(), stripesim.RefundRequest{PaymentIntent: paid.PaymentIntent.ID, Amount: stripe.Int64(300000)}))
	_, err := s.api.Refunds.New(refundOf(paid, 460001))
	refusal(t, err, http.StatusBadRequest, "", "amount")
	rest := must[*stripe.Refund](t)(s.api.Refunds.New(refundOf(paid, 0)))
	if rest.Amount != 460000 {
		t.Errorf("what was left is %d", rest.Amount)
	}
	var amounts []int64
	p := &stripe.RefundListParams{PaymentIntent: &paid.PaymentIntent.ID}
	p.Limit = stripe.Int64(2)
	p.AddExpand("data.charge")
	for it := s.api.Refunds.List(p); it.Next(); {
		amounts = append(amounts, it.Refund().Amount)
		if it.Refund().Charge.AmountRefunded != 960000 {
			t.Errorf("the charge is not expanded: %+v", it.Refund().Charge)
		}
	}
	if len(amounts) != 3 || amounts[0] != 460000 || amounts[2] != 200000 {
		t.Errorf("listed %v", amounts)
	}
}

func TestRefundsAtOnceNeverExceedTheCharge(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	paid := s.paid()
	errs := crowd(20, func(i int) error {
		amount := int64(300000)
		if i%5 == 0 {
			amount = 0
		}
		_, err := s.api.Refunds.New(refundOf(paid, amount))
		return err
	})
	var sum, left int64
	if err := s.pool.QueryRow(t.Context(), `SELECT (SELECT sum(amount) FROM stripesim.refunds), amount - amount_refunded FROM stripesim.charges`).Scan(&sum, &left); err != nil {
		t.Fatal(err)
	}
	if sum+left != 960000 {
		t.Errorf("refunded %d and %d is left of 960000", sum, left)
	}
	for _, err := range errs {
		if e, ok := err.(*stripe.Error); err != nil && (!ok || e.HTTPStatusCode != http.StatusBadRequest) {
			t.Errorf("a loser was told %v", err)
		}
	}
}

func TestRefundParameters(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	paid, other, declined := s.paid(), s.paid(), s.newSession()
	must[*stripesim.Session](t)(s.sim.Decline(t.Context(), declined.ID))
	declined = must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Get(declined.ID, nil))
	charge := must[*stripe.PaymentIntent](t)(s.api.PaymentIntents.Get(other.PaymentIntent.ID, nil)).LatestCharge.ID
	for name, c := range map[string]struct {
		p     *stripe.RefundParams
		code  stripe.ErrorCode
		param string
	}{
		"of nothing":           {&stripe.RefundParams{}, "parameter_missing", ""},
		"of an unknown charge": {&stripe.RefundParams{Charge: stripe.String("ch_none")}, "resource_missing", "charge"},
		"of an unknown intent": {&stripe.RefundParams{PaymentIntent: stripe.String("pi_none")}, "resource_missing", "payment_intent"},
		"of two payments":      {&stripe.RefundParams{PaymentIntent: &paid.PaymentIntent.ID, Charge: &charge}, "", "charge"},
		"of a declined one":    {refundOf(declined, 0), "payment_intent_unexpected_state", "payment_intent"},
		"of minus one":         {&stripe.RefundParams{PaymentIntent: &paid.PaymentIntent.ID, Amount: stripe.Int64(-1)}, "parameter_invalid_integer", "amount"},
		"of zero":              {&stripe.RefundParams{PaymentIntent: &paid.PaymentIntent.ID, Amount: stripe.Int64(0)}, "parameter_invalid_integer", "amount"},
		"for an odd reason":    {&stripe.RefundParams{PaymentIntent: &paid.PaymentIntent.ID, Reason: stripe.String("because")}, "", "reason"},
	} {
		_, err := s.api.Refunds.New(c.p)
		t.Run(name, func(t *testing.T) { refusal(t, err, http.StatusBadRequest, c.code, c.param) })
	}
	must[*stripe.Refund](t)(s.api.Refunds.New(&stripe.RefundParams{Charge: &charge}))
}

func TestARefundFailsLater(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	paid := s.paid()
	made := must[*stripe.Refund](t)(s.api.Refunds.New(refundOf(paid, 0)))
	var told stripesim.Refund
	s.post("/sim/refunds/"+made.ID+"/fail", `{"reason":"lost_or_stolen_card"}`, http.StatusOK, &told)
	s.post("/sim/refunds/"+made.ID+"/fail", ``, http.StatusConflict, nil)
	s.ear.wants("refund.created", "refund.failed", "refund.updated", "charge.refund.updated")
	failed, _ := object[stripe.Refund](t, s.ear, "refund.failed")
	again := must[*stripe.Refund](t)(s.api.Refunds.Get(made.ID, nil))
	for _, r := range []*stripe.Refund{&failed, again} {
		if r.Status != "failed" || r.FailureReason != "lost_or_stolen_card" {
			t.Errorf("the refund is %s, %s", r.Status, r.FailureReason)
		}
	}
	second := must[*stripe.Refund](t)(s.api.Refunds.New(refundOf(paid, 0)))
	if second.Amount != 960000 {
		t.Errorf("after the failure %d can be refunded", second.Amount)
	}
}

func TestRefundOutcomes(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	outcome := func(o stripesim.Outcome) *stripe.Refund {
		t.Helper()
		must[int64](t)(s.sim.AddFault(t.Context(), stripesim.Fault{Kind: stripesim.FaultRefundOutcome, Outcome: o, Count: 1}))
		return must[*stripe.Refund](t)(s.api.Refunds.New(refundOf(s.paid(), 0)))
	}
	if r := outcome(stripesim.OutcomeFailed); r.Status != "failed" || r.FailureReason != "declined" {
		t.Errorf("failed at once: %s, %s", r.Status, r.FailureReason)
	}
	s.ear.wants("refund.created", "refund.failed")
	pending := outcome(stripesim.OutcomePending)
	if pending.Status != "pending" {
		t.Errorf("pending: %s", pending.Status)
	}
	must[*stripesim.Refund](t)(s.sim.SucceedRefund(t.Context(), pending.ID))
	_, err := s.sim.SucceedRefund(t.Context(), pending.ID)
	conflict(t, err)
	s.ear.wants("refund.updated", "charge.refund.updated", "refund.updated")
	if r := must[*stripe.Refund](t)(s.api.Refunds.New(refundOf(s.paid(), 0))); r.Status != "succeeded" {
		t.Errorf("the fault outlived its count: %s", r.Status)
	}
}

func TestADisputedChargeIsNotRefunded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	paid := s.paid()
	must[*stripe.Refund](t)(s.api.Refunds.New(refundOf(paid, 60000)))
	var dispute stripesim.Dispute
	s.post("/sim/disputes", `{"payment_intent":"`+paid.PaymentIntent.ID+`"}`, http.StatusOK, &dispute)
	s.post("/sim/disputes", `{"payment_intent":"`+paid.PaymentIntent.ID+`"}`, http.StatusConflict, nil)
	s.ear.wants("charge.dispute.created")
	told, _ := object[stripe.Dispute](t, s.ear, "charge.dispute.created")
	if told.Amount != 900000 || told.Status != "needs_response" || told.Reason != "fraudulent" || told.PaymentIntent.ID != paid.PaymentIntent.ID {
		t.Errorf("the dispute is %+v", told)
	}
	_, err := s.api.Refunds.New(refundOf(paid, 0))
	refusal(t, err, http.StatusBadRequest, "charge_disputed", "charge")
	if c := must[*stripe.Charge](t)(s.api.Charges.Get(told.Charge.ID, nil)); !c.Disputed {
		t.Error("the charge does not say so")
	}
	s.post("/sim/disputes/"+dispute.ID+"/close", `{"won":true}`, http.StatusOK, nil)
	s.post("/sim/disputes/"+dispute.ID+"/close", `{"won":false}`, http.StatusConflict, nil)
	s.ear.wants("charge.dispute.closed")
	must[*stripe.Refund](t)(s.api.Refunds.New(refundOf(paid, 0)))

	lost := s.paid()
	opened := must[*stripesim.Dispute](t)(s.sim.OpenDispute(t.Context(), stripesim.DisputeRequest{PaymentIntent: lost.PaymentIntent.ID, Reason: "general"}))
	must[*stripesim.Dispute](t)(s.sim.CloseDispute(t.Context(), opened.ID, false))
	_, err = s.api.Refunds.New(refundOf(lost, 0))
	refusal(t, err, http.StatusBadRequest, "charge_disputed", "charge")
}

func TestRefundAndDisputeAgreeOnOneWinner(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for range 10 {
		paid := s.paid()
		errs := crowd(2, func(i int) error {
			if i == 0 {
				_, err := s.api.Refunds.New(refundOf(paid, 0))
				return err
			}
			_, err := s.sim.OpenDispute(t.Context(), stripesim.DisputeRequest{PaymentIntent: paid.PaymentIntent.ID})
			return err
		})
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Errorf("refund: %v, dispute: %v", errs[0], errs[1])
		}
	}
}
