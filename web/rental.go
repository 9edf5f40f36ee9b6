package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"tuval/internal/account"
	"tuval/internal/fault"
	"tuval/internal/ident"
	"tuval/views"
	"tuval/web/form"
	"tuval/web/reply"
	"tuval/web/show"
	"tuval/web/visitor"
)

// rental is everything a buyer does with a rental.
func (s *site) rental(w http.ResponseWriter, r *http.Request) error {
	p, err := s.rentalPage(r, false)
	if err != nil {
		return s.rentalRefused(w, r, form.Form{}, err, nil)
	}
	p.Page = s.withFlashes(r, p.Page)
	reply.HTML(w, r, http.StatusOK, views.Rental(p))
	return nil
}

// rentalPage looks at the rental and puts it into words.
func (s *site) rentalPage(r *http.Request, confirming bool) (views.RentalPage, error) {
	ctx, v := r.Context(), visitor.From(r.Context())
	d, err := s.Market.Look(ctx, r.PathValue("id"), v.Viewer())
	if err != nil {
		return views.RentalPage{}, err
	}
	b, err := s.Board.Snapshot(ctx)
	if err != nil {
		return views.RentalPage{}, err
	}
	email, err := s.emailOf(r)
	if err != nil {
		return views.RentalPage{}, err
	}
	return show.Rental(s.frame(r), d, show.Context{
		Rules: s.Market.Rules(), Canvas: show.CanvasPicture(b.Revision, "webp"), Email: email,
		MaxBytes: int64(s.Studio.Limits().Bytes), Owner: d.Rental.OwnedBy(v.Viewer()), Confirming: confirming, Key: ident.New,
	}), nil
}

// emailOf is the address of the account that is signed in, or empty.
func (s *site) emailOf(r *http.Request) (string, error) {
	v := visitor.From(r.Context())
	if !v.SignedIn() {
		return "", nil
	}
	a, err := account.Get(r.Context(), s.Pool, v.Account)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return a.Email, err
}

// keep prolongs a hold, once.
func (s *site) keep(w http.ResponseWriter, r *http.Request) error {
	return s.act(w, r, func(v visitor.Visitor, key string, f form.Form) error {
		id, err := f.Get("request_id")
		if err != nil {
			return err
		}
		if err := s.Limits.Holds.Allow(v.NetworkKey()); err != nil {
			return err
		}
		_, err = s.Market.Keep(r.Context(), v.Who(), key, request(v, "keep", id, key))
		return err
	})
}

// cancel lets go of a hold or a checkout.
func (s *site) cancel(w http.ResponseWriter, r *http.Request) error {
	return s.act(w, r, func(v visitor.Visitor, key string, _ form.Form) error {
		return s.Market.Cancel(r.Context(), v.Who(), key)
	})
}

// act carries out a form of a rental's page and shows the rental as it is
// then.
func (s *site) act(w http.ResponseWriter, r *http.Request, do func(visitor.Visitor, string, form.Form) error) error {
	f, err := form.Read(w, r)
	if err != nil {
		return err
	}
	key := r.PathValue("id")
	if err := do(visitor.From(r.Context()), key, f); err != nil {
		return s.rentalRefused(w, r, f, err, nil)
	}
	return s.shown(w, r, f)
}

// rentalRefused shows the rental as it is now, with the refusal and, by mark,
// what was typed. Somebody else's rental and none at all look the same, and
// keep what was typed as well.
func (s *site) rentalRefused(w http.ResponseWriter, r *http.Request, f form.Form, err error, mark func(*views.RentalPage)) error {
	refusal := fault.As(err)
	switch refusal.Kind {
	case fault.NotFound:
		s.privateDoor(w, r, f, err)
		return nil
	case fault.Internal, fault.Unavailable:
		s.tryAgain(w, r, f, err)
		return nil
	}
	p, lookErr := s.rentalPage(r, false)
	if lookErr != nil {
		return lookErr
	}
	if mark != nil {
		mark(&p)
	}
	if !said(p, refusal.Msg) {
		p.Notice = &views.NoticeText{Kind: "error", Title: noticeTitle(refusal), Text: refusal.Msg}
	}
	_, status := reply.Note(w, r, err)
	if reply.HTMX(r) {
		reply.HTML(w, r, status, views.RentalBody(p))
		return nil
	}
	reply.HTML(w, r, status, views.Rental(p))
	return nil
}

// said reports whether a form of the page says it already.
func said(p views.RentalPage, words string) bool {
	var all []views.Problem
	if p.Checkout != nil {
		all = append(all, p.Checkout.Problems...)
	}
	if p.Creative != nil && p.Creative.Form != nil {
		all = append(all, p.Creative.Form.Problems...)
	}
	if p.More != nil {
		all = append(all, p.More.Problems...)
	}
	if p.Withdraw != nil {
		all = append(all, p.Withdraw.Problems...)
	}
	if p.Access != nil && p.Access.Correct != nil {
		all = append(all, p.Access.Correct.Problems...)
	}
	return slices.ContainsFunc(all, func(one views.Problem) bool { return strings.HasPrefix(one.Text, words) })
}

func noticeTitle(f *fault.Error) string {
	switch f.Kind {
	case fault.Gone:
		return "Your hold is over"
	case fault.Limited:
		return "Please wait a little"
	case fault.Conflict:
		return "Things have moved on"
	case fault.TooLarge:
		return "That is too large"
	case fault.Unsupported:
		return "This kind of file cannot be taken"
	}
	return "This was not carried out"
}

// privateDoor stands where a rental's page would be for somebody who may not
// see it, and for a rental that does not exist: the same words, the same
// status.
func (s *site) privateDoor(w http.ResponseWriter, r *http.Request, f form.Form, err error) {
	_, status := reply.Note(w, r, err)
	if reply.HTMX(r) {
		reply.HTML(w, r, status, views.FaultBody(views.FaultView{
			Status: status,
			Title:  "This browser is not signed in to this rental any more. Sign in in another tab, then press the button again; what you typed stays here.",
		}))
		return
	}
	page := s.frame(r)
	page.Path = "/rentals/"
	reply.HTML(w, r, status, views.Private(views.PrivatePage{Page: page, ID: r.PathValue("id"), Kept: kept(r, f)}))
}

// tryAgain is for what did not work through nobody's fault: what was typed is
// kept behind a button that sends it again.
func (s *site) tryAgain(w http.ResponseWriter, r *http.Request, f form.Form, err error) {
	view := views.FaultView{Kept: kept(r, f), Next: []views.FaultLink{{Href: "/", Text: "To the canvas"}}}
	if strings.HasPrefix(r.URL.Path, "/rentals/") {
		view.Next = append([]views.FaultLink{{Href: "/rentals/" + r.PathValue("id"), Text: "To the rental"}}, view.Next...)
	}
	reply.Page(w, r, s.frame(r), view, err)
}

// keptLabels are the fields that are shown when they are kept.
var keptLabels = [...][2]string{
	{"col", "Column"},
	{"row", "Row"},
	{"w", "Width"},
	{"h", "Height"},
	{"weeks", "Weeks"},
	{"email", "E-mail"},
	{"go_live_at", "Go-live time (UTC)"},
	{"link", "Link"},
	{"title", "Title"},
	{"alt", "Description"},
	{"fit", "Fit"},
	{"confirm", ""},
	{"expected_amount", ""},
	{"request_id", ""},
}

// kept is what was typed, to be sent again as it was. It is nil when nothing
// was sent.
func kept(r *http.Request, f form.Form) *views.Kept {
	if r.Method != http.MethodPost {
		return nil
	}
	k := &views.Kept{Action: r.URL.EscapedPath()}
	for _, field := range keptLabels {
		if f.Has(field[0]) {
			k.Fields = append(k.Fields, views.KeptField{Name: field[0], Label: field[1], Value: f.Typed(field[0])})
		}
	}
	return k
}

// withFlashes adds the messages that wait for this browser's next page.
func (s *site) withFlashes(r *http.Request, p views.Page) views.Page {
	p.Flash = s.page(r).Flash
	return p
}
