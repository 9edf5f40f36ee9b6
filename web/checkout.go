package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tuval/internal/fault"
	"tuval/internal/market"
	"tuval/internal/text"
	"tuval/views"
	"tuval/web/form"
	"tuval/web/reply"
	"tuval/web/show"
	"tuval/web/visitor"
)

// checkout opens a payment page and leads there.
func (s *site) checkout(w http.ResponseWriter, r *http.Request) error {
	f, err := form.Read(w, r)
	if err != nil {
		return err
	}
	want, c := readPurchase(f)
	refused := func(err error, problems ...*fault.Error) error {
		return s.rentalRefused(w, r, f, err, func(p *views.RentalPage) { markCheckout(p, f, problems) })
	}
	v := visitor.From(r.Context())
	if err := c.Err(); err != nil {
		return refused(s.orNotTheirs(r, err), c.Problems()...)
	}
	offer, err := s.Market.Checkout(r.Context(), v.Who(), r.PathValue("id"), want)
	if err != nil {
		return refused(err, fault.As(err))
	}
	reply.Found(w, r, offer.URL)
	return nil
}

func readPurchase(f form.Form) (market.Purchase, *form.Check) {
	c := &form.Check{}
	return market.Purchase{
		Weeks:          form.Text(c, f, "weeks", number("weeks", "The number of weeks (weeks)", 1, market.MaxWeeks)),
		Email:          form.Text(c, f, "email", text.Email),
		GoLiveAt:       form.Text(c, f, "go_live_at", readHour),
		ExpectedAmount: form.Text(c, f, "expected_amount", readAmount),
	}, c
}

// readHour reads what an <input type=datetime-local> sends, taken as UTC.
// RFC 3339 is welcome, too. Nothing means no wish.
func readHour(s string) (*time.Time, error) {
	if s = strings.TrimSpace(s); s == "" {
		return nil, nil
	}
	for _, layout := range []string{show.HourForm, show.HourForm + ":05", time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() < 10_000 {
			t = t.UTC()
			return &t, nil
		}
	}
	return nil, fault.New(fault.Invalid, "The go-live time must be a date and an hour in UTC, as in 2027-01-31T15:00.")
}

// readAmount reads the total that the page showed, in minor units.
func readAmount(s string) (*int64, error) {
	if s == "" {
		return nil, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || s != fmt.Sprint(n) {
		return nil, fault.New(fault.Invalid, "expected_amount must be a whole number of minor units.")
	}
	return &n, nil
}

// markCheckout puts what was typed back into the form, and what was wrong
// with it.
func markCheckout(p *views.RentalPage, f form.Form, problems []*fault.Error) {
	if p.Checkout == nil {
		return
	}
	p.Checkout.Email, p.Checkout.GoLiveAt = f.Typed("email"), f.Typed("go_live_at")
	if weeks, err := strconv.Atoi(f.Typed("weeks")); err == nil {
		p.Checkout.Weeks = weeks
	}
	for _, problem := range problems {
		if problem.Kind == fault.Invalid || problem.Code == "full" { // another hour may do
			p.Checkout.Problems = append(p.Checkout.Problems, problemsOf([]*fault.Error{problem}, map[string]string{"expected_amount": "", "request_id": ""})...)
		}
	}
}

// comeBackAgain is after how many seconds a browser without scripts asks once
// more whether the payment has arrived.
const comeBackAgain = "6"

// comeBack is where the payment page sends people. Stripe is asked about the
// rental's own payment; what stands in the address is not believed, so
// anybody may open it by hand.
func (s *site) comeBack(w http.ResponseWriter, r *http.Request) error {
	v := visitor.From(r.Context())
	if err := s.Market.Return(r.Context(), v.Who(), r.PathValue("id")); err != nil {
		if fault.As(err).Kind == fault.NotFound {
			return s.rentalRefused(w, r, form.Form{}, err, nil)
		}
		s.Log.WarnContext(r.Context(), "the payment could not be asked for on return", "error", err)
	}
	p, err := s.rentalPage(r, true)
	if err != nil {
		return s.rentalRefused(w, r, form.Form{}, err, nil)
	}
	if p.Phase != views.PhaseConfirming && p.Confirming == "" {
		reply.Found(w, r, "/rentals/"+r.PathValue("id"))
		return nil
	}
	w.Header().Set("Refresh", comeBackAgain)
	reply.HTML(w, r, http.StatusOK, views.Rental(p))
	return nil
}
