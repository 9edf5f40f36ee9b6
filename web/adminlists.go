package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"tuval/internal/fault"
	"tuval/internal/ident"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/text"
	"tuval/internal/workflow/drawn"
	"tuval/views"
	"tuval/web/form"
	"tuval/web/lists"
	"tuval/web/reply"
	"tuval/web/show"
	"tuval/web/visitor"
)

// listed is how many lines an admin's table has.
const listed = 100

// filter is how an admin's table is narrowed: ?state=, ?q= and ?below=.
type filter struct {
	state, search string
	below         int64
}

func readFilter(r *http.Request, states ...string) (filter, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return filter{}, fault.New(fault.Invalid, "The address is not well-formed.").Because(err)
	}
	f, err := form.Of(query)
	if err != nil {
		return filter{}, err
	}
	c := &form.Check{}
	v := filter{
		state: form.Text(c, f, "state", func(s string) (string, error) {
			if s == "" || slices.Contains(states, s) {
				return s, nil
			}
			return "", fault.Field("state", "There is no such state.")
		}),
		search: form.Text(c, f, "q", func(s string) (string, error) { return text.Line("q", "The search", text.EmailMax, s) }),
		below: form.Text(c, f, "below", func(s string) (int64, error) {
			if s == "" {
				return 0, nil
			}
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil || n < 1 {
				return 0, fault.Field("below", "below must be a whole number above 0.")
			}
			return n, nil
		}),
	}
	return v, c.Err()
}

// next is the address of the lines below the last one of a full table.
func (v filter) next(path string, lines int, last int64) string {
	if lines < listed {
		return ""
	}
	return path + "?" + url.Values{"state": {v.state}, "q": {v.search}, "below": {strconv.FormatInt(last, 10)}}.Encode()
}

// adminRentals lists rentals, or those that a search finds.
func (s *site) adminRentals(w http.ResponseWriter, r *http.Request) error {
	v, err := readFilter(r, "held", "paying", "paid", "live", "ended", "closed")
	if err != nil {
		return err
	}
	rentals, err := s.findRentals(r, v)
	if err != nil {
		return err
	}
	ids := make([]rental.ID, len(rentals))
	for i, one := range rentals {
		ids[i] = one.ID
	}
	paid, err := lists.PaidFor(r.Context(), s.Pool, ids)
	if err != nil {
		return err
	}
	frame, err := s.adminPage(r)
	if err != nil {
		return err
	}
	p := views.RentalsPage{AdminPage: frame, State: v.state, Query: v.search}
	for _, one := range rentals {
		p.Rows = append(p.Rows, show.RentalRow(one, paid[one.ID]))
	}
	if len(ids) > 0 && v.search == "" {
		p.Next = v.next("/admin/rentals", len(ids), int64(ids[len(ids)-1]))
	}
	reply.HTML(w, r, http.StatusOK, views.Rentals(p))
	return nil
}

func (s *site) findRentals(r *http.Request, v filter) ([]rental.Rental, error) {
	if v.search == "" {
		rentals, _, err := s.Market.Rentals(r.Context(), rental.State(v.state), rental.ID(v.below), listed)
		return rentals, err
	}
	keys, err := lists.Found(r.Context(), s.Pool, v.search, listed)
	if err != nil {
		return nil, err
	}
	var found []rental.Rental
	for _, key := range keys {
		d, err := s.Market.Look(r.Context(), key, visitor.From(r.Context()).Viewer())
		if err != nil {
			return nil, err
		}
		if v.state == "" || v.state == string(d.Rental.State) {
			found = append(found, d.Rental)
		}
	}
	return found, nil
}

// adminRental is everything stored about one rental.
func (s *site) adminRental(w http.ResponseWriter, r *http.Request) error {
	p, err := s.adminRentalPage(r)
	if err != nil {
		return err
	}
	reply.HTML(w, r, http.StatusOK, views.AdminRental(p))
	return nil
}

func (s *site) adminRentalPage(r *http.Request) (views.AdminRentalPage, error) {
	d, err := s.Market.Look(r.Context(), r.PathValue("id"), visitor.From(r.Context()).Viewer())
	if err != nil {
		return views.AdminRentalPage{}, err
	}
	frame, err := s.adminPage(r)
	if err != nil {
		return views.AdminRentalPage{}, err
	}
	frame.Path = "/admin/rentals/" + d.Rental.Key // also in the answer to a form
	b, err := s.Board.Snapshot(r.Context())
	if err != nil {
		return views.AdminRentalPage{}, err
	}
	found, err := s.Market.Anomalies(r.Context(), listed)
	if err != nil {
		return views.AdminRentalPage{}, err
	}
	p := show.AdminRental(frame, d, show.CanvasPicture(b.Revision, "webp"), found)
	p.Actions = show.Actions(d, ident.New)
	jobs, err := s.Market.JobsOf(r.Context(), d.Rental.ID)
	p.Workflow = drawn.Picture(show.Steps(d, jobs))
	return p, err
}

// adminPayments lists payments with their refunds.
func (s *site) adminPayments(w http.ResponseWriter, r *http.Request) error {
	v, err := readFilter(r, "open", "processing", "paid", "expired", "failed")
	if err != nil {
		return err
	}
	all, err := lists.Payments(r.Context(), s.Pool, v.state, v.below, listed)
	if err != nil {
		return err
	}
	ids := make([]payment.ID, len(all))
	for i, p := range all {
		ids[i] = payment.ID(p.ID)
	}
	refunds, err := payment.RefundsOf(r.Context(), s.Pool, ids...)
	if err != nil {
		return err
	}
	frame, err := s.adminPage(r)
	if err != nil {
		return err
	}
	p := views.PaymentsPage{AdminPage: frame, State: v.state}
	for _, one := range all {
		p.Rows = append(p.Rows, show.PaymentRow(one, refunds))
	}
	if len(ids) > 0 {
		p.Next = v.next("/admin/payments", len(ids), int64(ids[len(ids)-1]))
	}
	reply.HTML(w, r, http.StatusOK, views.Payments(p))
	return nil
}

// adminList lists the admins.
func (s *site) adminList(w http.ResponseWriter, r *http.Request) error {
	frame, err := s.adminPage(r)
	if err != nil {
		return err
	}
	all, err := s.Admins.All(r.Context())
	if err != nil {
		return err
	}
	uses, err := lists.Admins(r.Context(), s.Pool)
	if err != nil {
		return err
	}
	p := views.AdminsPage{AdminPage: frame}
	for _, a := range all {
		p.Rows = append(p.Rows, views.AdminRow{
			Email: a.Email, Enabled: !a.Disabled, Made: views.MomentOf(a.CreatedAt), LastSeen: show.Moment(uses[a.ID].LastSeen), Tokens: uses[a.ID].Tokens,
		})
	}
	reply.HTML(w, r, http.StatusOK, views.Admins(p))
	return nil
}
