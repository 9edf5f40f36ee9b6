package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"tuval/internal/fault"
	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/text"
	"tuval/views"
	"tuval/web/form"
	"tuval/web/repeat"
	"tuval/web/reply"
	"tuval/web/visitor"
)

// action is a form of a rental's page in the admin, as it was read.
type action struct {
	name string // refund, hide, unhide or close
	form form.Form
	*form.Check
	reason string
	by     string
}

// done is what an action answers with: there is nothing to say but that.
type done struct{}

// refundRental sends money back, part of a payment or all that is left of it.
func (s *site) refundRental(w http.ResponseWriter, r *http.Request) error {
	a, err := readAction(w, r, "refund")
	if err != nil {
		return err
	}
	order := market.RefundOrder{
		Rental: r.PathValue("id"), Reason: a.reason, By: a.by,
		Payment: form.Text(a.Check, a.form, "payment", asIs),
		Amount:  form.Text(a.Check, a.form, "amount", readMoney(s.Market.Rules().Currency)),
	}
	order.Request = adminRequest(a.Check, a.form, r, order)
	return s.carryOut(w, r, a, "The refund is on its way.", func() error { return s.Market.RefundNow(r.Context(), order) })
}

// hideRental takes a picture off the canvas while its time runs on.
func (s *site) hideRental(w http.ResponseWriter, r *http.Request) error {
	a, err := readAction(w, r, "hide")
	if err != nil {
		return err
	}
	key := r.PathValue("id")
	return s.once(w, r, a, a.reason, "The picture is hidden.", func() error { return s.Market.Hide(r.Context(), key, a.reason, a.by) })
}

// unhideRental puts a hidden picture back.
func (s *site) unhideRental(w http.ResponseWriter, r *http.Request) error {
	a, err := readAction(w, r, "unhide")
	if err != nil {
		return err
	}
	key := r.PathValue("id")
	return s.once(w, r, a, a.reason, "The picture shows again.", func() error { return s.Market.Unhide(r.Context(), key, a.reason, a.by) })
}

// removeRental closes a rental for good.
func (s *site) removeRental(w http.ResponseWriter, r *http.Request) error {
	a, err := readAction(w, r, "close")
	if err != nil {
		return err
	}
	refund := form.Text(a.Check, a.form, "refund", func(s string) (bool, error) {
		if s == "yes" || s == "no" {
			return s == "yes", nil
		}
		return false, fault.Field("refund", "Please choose whether the money goes back.")
	})
	order := market.Removal{Rental: r.PathValue("id"), Reason: a.reason, By: a.by, Refund: refund}
	return s.once(w, r, a, order, "The rental is removed; its blocks are free.", func() error { return s.Market.Remove(r.Context(), order) })
}

// readAction reads what all actions have: a reason and a tick.
func readAction(w http.ResponseWriter, r *http.Request, name string) (action, error) {
	f, err := form.Read(w, r)
	if err != nil {
		return action{}, err
	}
	a := action{name: name, form: f, Check: &form.Check{}, by: visitor.From(r.Context()).Admin.Email}
	a.reason = form.Text(a.Check, f, "reason", text.Rule{Field: "reason", Label: "The reason", Max: reasonMax, Required: true, Lines: true}.Clean)
	form.Text(a.Check, f, "confirm", ticked("Please tick the box to do this."))
	return a, nil
}

// once carries out what the market does not remember by itself, once for a form
// that is sent twice.
func (s *site) once(w http.ResponseWriter, r *http.Request, a action, body any, said string, do func() error) error {
	req := adminRequest(a.Check, a.form, r, body)
	return s.carryOut(w, r, a, said, func() error {
		_, err := repeat.Once(r.Context(), s.memory, req, func() (done, error) { return done{}, do() })
		return err
	})
}

// carryOut does it, if what was typed is right, and shows the rental.
func (s *site) carryOut(w http.ResponseWriter, r *http.Request, a action, said string, do func() error) error {
	if err := a.Err(); err != nil {
		return s.actionRefused(w, r, a, err, a.Problems()...)
	}
	if err := do(); err != nil {
		return s.actionRefused(w, r, a, err, fault.As(err))
	}
	s.tell(r.Context(), "success", said)
	reply.Found(w, r, "/admin/rentals/"+r.PathValue("id"))
	return nil
}

// actionRefused shows the rental as it is now, with what was typed.
func (s *site) actionRefused(w http.ResponseWriter, r *http.Request, a action, err error, problems ...*fault.Error) error {
	refusal := fault.As(err)
	if refusal.Kind != fault.Invalid && refusal.Kind != fault.Conflict {
		return err
	}
	p, lookErr := s.adminRentalPage(r)
	if lookErr != nil {
		return lookErr
	}
	marked := markAction(&p, a, problems)
	if refusal.Kind == fault.Conflict || !marked {
		p.Notice = &views.NoticeText{Kind: "error", Title: "Nothing was changed", Text: refusal.Msg}
	}
	_, status := reply.Note(w, r, err)
	reply.HTML(w, r, status, views.AdminRental(p))
	return nil
}

// markAction puts what was typed back into the form, with what was wrong with
// it. It reports whether the form is still there.
func markAction(p *views.AdminRentalPage, a action, problems []*fault.Error) bool {
	fields := map[string]string{"request_id": "", "refund": "refund"}
	for _, name := range []string{"reason", "confirm", "amount", "payment", "payment_id"} {
		fields[name] = a.name + "-" + strings.TrimSuffix(name, "_id")
	}
	for i := range p.Actions {
		f := &p.Actions[i]
		if f.Name != a.name {
			continue
		}
		f.Reason, f.Amount, f.Choice = a.form.Typed("reason"), a.form.Typed("amount"), a.form.Typed("refund")
		if a.form.Has("payment") {
			f.Payment = a.form.Typed("payment")
		}
		f.Problems = invalid(problems, fields)
		return true
	}
	return false
}

// readMoney reads an amount as people write it, 120 or 120.50, in minor units;
// nil for none.
func readMoney(c money.Currency) func(string) (*int64, error) {
	return func(s string) (*int64, error) {
		if s = strings.TrimSpace(s); s == "" {
			return nil, nil
		}
		whole, rest, _ := strings.Cut(s, ".")
		digits := whole + rest + strings.Repeat("0", max(c.Decimals-len(rest), 0))
		n, err := strconv.ParseInt(digits, 10, 64)
		plain := strings.Trim(s, "0123456789.") == "" && whole != "" && len(rest) <= c.Decimals && strings.Count(s, ".") <= 1
		if err != nil || !plain || n < 1 {
			return nil, fault.Field("amount", fmt.Sprintf("The amount must be a number above 0 with at most %d decimals, as in %s.", c.Decimals, example(c)))
		}
		return &n, nil
	}
}

func example(c money.Currency) string {
	if c.Decimals == 0 {
		return "120"
	}
	return "120." + strings.Repeat("0", c.Decimals)
}
