package web

import (
	"context"
	"net/http"
	"strconv"

	"tuval/internal/fault"
	"tuval/internal/market"
	"tuval/internal/text"
	"tuval/views"
	"tuval/web/form"
	"tuval/web/reply"
	"tuval/web/visitor"
)

// extend opens a payment page for more weeks of a rental that is live.
func (s *site) extend(w http.ResponseWriter, r *http.Request) error {
	return s.buyMore(w, r, s.Market.Extend)
}

// renew opens a payment page for new weeks of a rental that has ended.
func (s *site) renew(w http.ResponseWriter, r *http.Request) error {
	return s.buyMore(w, r, s.Market.Renew)
}

type buyVerb func(context.Context, market.Who, string, market.More) (market.Offer, error)

func (s *site) buyMore(w http.ResponseWriter, r *http.Request, buy buyVerb) error {
	f, err := form.Read(w, r)
	if err != nil {
		return err
	}
	c := &form.Check{}
	want := market.More{
		Weeks:          form.Text(c, f, "weeks", number("weeks", "The number of weeks (weeks)", 1, market.MaxWeeks)),
		ExpectedAmount: form.Text(c, f, "expected_amount", readAmount),
	}
	refused := func(err error, problems ...*fault.Error) error {
		return s.rentalRefused(w, r, f, err, func(p *views.RentalPage) { markMore(p, f, problems) })
	}
	v := visitor.From(r.Context())
	if err := c.Err(); err != nil {
		return refused(s.orNotTheirs(r, err), c.Problems()...)
	}
	offer, err := buy(r.Context(), v.Who(), r.PathValue("id"), want)
	if err != nil {
		return refused(err, fault.As(err))
	}
	reply.Found(w, r, offer.URL)
	return nil
}

// orNotTheirs is what is wrong with a form about a rental, unless the rental is
// not the sender's: then it is that.
func (s *site) orNotTheirs(r *http.Request, err error) error {
	viewer := visitor.From(r.Context()).Viewer()
	viewer.Admin = false // an admin does not act for a buyer
	if _, found := s.Market.Find(r.Context(), r.PathValue("id"), viewer); found != nil {
		return found
	}
	return err
}

// markMore puts what was chosen back into the form, and what was wrong with
// it.
func markMore(p *views.RentalPage, f form.Form, problems []*fault.Error) {
	if p.More == nil {
		return
	}
	if weeks, err := strconv.Atoi(f.Typed("weeks")); err == nil {
		p.More.Weeks = weeks
	}
	p.More.Problems = invalid(problems, map[string]string{"expected_amount": ""})
}

// invalid are the refusals that are about what was typed.
func invalid(all []*fault.Error, rename map[string]string) []views.Problem {
	var found []*fault.Error
	for _, one := range all {
		if one.Kind == fault.Invalid {
			found = append(found, one)
		}
	}
	return problemsOf(found, rename)
}

// withdraw gives a rental back before its first approval. It is meant only
// when the box is ticked.
func (s *site) withdraw(w http.ResponseWriter, r *http.Request) error {
	f, err := form.Read(w, r)
	if err != nil {
		return err
	}
	refused := func(err error, problems ...*fault.Error) error {
		return s.rentalRefused(w, r, f, err, func(p *views.RentalPage) {
			if p.Withdraw != nil {
				p.Withdraw.Problems = invalid(problems, nil)
			}
		})
	}
	c := &form.Check{}
	form.Text(c, f, "confirm", ticked("Please tick the box to withdraw."))
	if err := c.Err(); err != nil {
		return refused(s.orNotTheirs(r, err), c.Problems()...)
	}
	if err := s.Market.Withdraw(r.Context(), visitor.From(r.Context()).Who(), r.PathValue("id")); err != nil {
		return refused(err, fault.As(err))
	}
	return s.shown(w, r, f)
}

// ticked reads a box that has to be ticked.
func ticked(otherwise string) func(string) (bool, error) {
	return func(s string) (bool, error) {
		if s == "yes" {
			return true, nil
		}
		return false, fault.Field("confirm", otherwise)
	}
}

// correctContact changes the address that nobody has confirmed yet.
func (s *site) correctContact(w http.ResponseWriter, r *http.Request) error {
	f, err := form.Read(w, r)
	if err != nil {
		return err
	}
	refused := func(err error, problems ...*fault.Error) error {
		return s.rentalRefused(w, r, f, err, func(p *views.RentalPage) {
			if p.Access != nil && p.Access.Correct != nil {
				p.Access.Correct.Email, p.Access.Correct.Problems = f.Typed("email"), invalid(problems, nil)
			}
		})
	}
	c := &form.Check{}
	email := form.Text(c, f, "email", text.Email)
	if err := c.Err(); err != nil {
		return refused(s.orNotTheirs(r, err), c.Problems()...)
	}
	if err := s.Market.CorrectContact(r.Context(), visitor.From(r.Context()).Who(), r.PathValue("id"), email); err != nil {
		return refused(err, fault.As(err))
	}
	return s.shown(w, r, f)
}

// shown leads to the rental after a form was carried out, or shows it at once
// to scripts.
func (s *site) shown(w http.ResponseWriter, r *http.Request, f form.Form) error {
	if !reply.HTMX(r) {
		reply.Found(w, r, "/rentals/"+r.PathValue("id"))
		return nil
	}
	p, err := s.rentalPage(r, false)
	if err != nil {
		return s.rentalRefused(w, r, f, err, nil)
	}
	reply.HTML(w, r, http.StatusOK, views.RentalBody(p))
	return nil
}
