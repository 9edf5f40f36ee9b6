package views

import "github.com/a-h/templ"

// ActionForm is one thing an admin can do with a rental, folded away until it
// is wanted. It posts to /admin/rentals/{id}/{Name}. Fields: reason, confirm
// (yes), request_id; of a refund also payment and amount; of a removal also
// refund (yes or no). The id of a field is Name-field.
type ActionForm struct {
	Name    string // refund, hide, unhide or close
	Title   string
	About   string
	Confirm string // what is ticked
	Button  string
	Danger  bool
	Request string

	Payments []Option // of a refund: the payments of which something is left
	Payment  string
	Amount   string // as typed; empty: all that is left
	Choice   string // of a removal: "yes" or "no"
	Reason   string
	Problems []Problem // Field: the id of a field, or ""
}

// DisputeRow is money that a payer's bank took back.
type DisputeRow struct {
	ID      string
	Payment string // id of the payment
	Amount  string
	State   string // open, won, lost
	Reason  string
	Opened  Moment
	Closed  Moment
}

func (f ActionForm) id(field string) string { return f.Name + "-" + field }

func (f ActionForm) kind() string {
	if f.Danger {
		return "danger"
	}
	return ""
}

func (p AdminRentalPage) path(verb string) templ.SafeURL {
	return templ.URL(adminRental(p.ID) + "/" + verb)
}

func disputeWord(state string) string {
	switch state {
	case "open":
		return "Open"
	case "won":
		return "Won"
	case "lost":
		return "Lost"
	}
	return state
}

// disputeMark is the mark of a dispute's state.
func disputeMark(state string) string {
	return map[string]string{"open": "pending", "won": "ok", "lost": "failed"}[state]
}
