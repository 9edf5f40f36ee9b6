package stripesim

import (
	"context"
	"slices"
	"strings"

	"tuval/internal/db"
)

// What can be shown in full instead of by id.

func sessionExpansions() []string {
	return []string{"line_items", "payment_intent", "payment_intent.latest_charge"}
}
func intentExpansions() []string { return []string{"latest_charge"} }
func chargeExpansions() []string { return []string{"payment_intent"} }
func refundExpansions() []string { return []string{"charge", "payment_intent"} }

func checkExpand(paths, allowed []string) *Error {
	for _, path := range paths {
		if !slices.Contains(allowed, path) {
			return invalid("expand", "", "This property cannot be expanded by the payment simulator: %s. It can expand %s.", path, strings.Join(allowed, ", "))
		}
	}
	return nil
}

// readExpand reads the parameters of a call that takes nothing but expand.
func readExpand(form *node, allowed []string) ([]string, *Error) {
	p := newScope(form)
	p.only("expand")
	paths := p.texts("expand")
	if *p.err != nil {
		return nil, *p.err
	}
	return paths, checkExpand(paths, allowed)
}

// readListExpand reads expand[]=data.x for a list of what has x.
func readListExpand(p scope, allowed []string) []string {
	var paths []string
	for _, path := range p.texts("expand") {
		inner, ok := strings.CutPrefix(path, "data.")
		if !ok || !slices.Contains(allowed, inner) {
			p.refuse("expand", "", "This property cannot be expanded by the payment simulator: %s.", path)
		}
		paths = append(paths, inner)
	}
	return paths
}

func expandSession(ctx context.Context, q db.Querier, s *Session, paths []string) error {
	if slices.Contains(paths, "line_items") {
		s.LineItems = &List{Object: "list", URL: "/v1/checkout/sessions/" + s.ID + "/line_items"}
		for _, item := range s.Items {
			s.LineItems.Data = append(s.LineItems.Data, item.stripe())
		}
	}
	deep := slices.Contains(paths, "payment_intent.latest_charge")
	if s.PaymentIntent.ID == "" || !deep && !slices.Contains(paths, "payment_intent") {
		return nil
	}
	intent, err := findIntent(ctx, q, s.PaymentIntent.ID)
	if err != nil {
		return err
	}
	s.PaymentIntent.Object = intent
	if deep {
		return expandIntent(ctx, q, intent, intentExpansions())
	}
	return nil
}

func expandIntent(ctx context.Context, q db.Querier, p *PaymentIntent, paths []string) error {
	if len(paths) == 0 || p.LatestCharge.ID == "" {
		return nil
	}
	charge, err := findCharge(ctx, q, p.LatestCharge.ID)
	p.LatestCharge.Object = charge
	return err
}

func expandCharge(ctx context.Context, q db.Querier, c *Charge, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	intent, err := findIntent(ctx, q, c.PaymentIntent.ID)
	c.PaymentIntent.Object = intent
	return err
}

func expandRefund(ctx context.Context, q db.Querier, r *Refund, paths []string) error {
	if slices.Contains(paths, "charge") {
		charge, err := findCharge(ctx, q, r.Charge.ID)
		if err != nil {
			return err
		}
		r.Charge.Object = charge
	}
	if slices.Contains(paths, "payment_intent") {
		intent, err := findIntent(ctx, q, r.PaymentIntent.ID)
		if err != nil {
			return err
		}
		r.PaymentIntent.Object = intent
	}
	return nil
}
