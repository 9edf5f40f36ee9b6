package views

import (
	"net/url"
	"strconv"
	"strings"
)

// AdminPage is what every page of the admin has. Page structs embed it.
type AdminPage struct {
	Page
	Email     string // of the admin
	Reviews   int    // pictures that wait
	Anomalies int    // findings not resolved
	Dev       bool   // development: the clock and the mails are at hand
}

// AdminLoginPage asks for an admin's e-mail address and password. Fields:
// email, password, next.
type AdminLoginPage struct {
	Page
	Email    string
	Next     string
	Problems []Problem // Field: email, password or ""
}

// RentalsPage lists rentals. State and Query filter it: GET
// /admin/rentals?state=&q=.
type RentalsPage struct {
	AdminPage
	State string // "" is all
	Query string
	Rows  []RentalRow
	Next  string
}

// RentalRow is one rental in a list.
type RentalRow struct {
	ID       string
	State    string
	Reason   string // of closed
	Place    string // "6 × 4 at 41, 13"
	Email    string
	Weeks    string
	Amount   string
	Made     Moment
	Deadline Moment // when the state's lease ends
}

// AdminRentalPage is everything stored about one rental.
type AdminRentalPage struct {
	AdminPage
	ID        string
	State     string
	Reason    string
	Place     PlaceView
	Facts     []Fact // formatted, in order
	Payments  []PaymentRow
	Creatives []AdminCreative
	Ledger    []LedgerRow
	Anomalies []AnomalyRow
	Disputes  []DisputeRow
	Actions   []ActionForm
	Workflow  WorkflowView
	Notice    *NoticeText // the answer to an action that was refused
}

// PaymentRow is one payment with its refunds.
type PaymentRow struct {
	ID       string
	RentalID string
	Purpose  string // new, extend, renew
	Weeks    string
	Amount   string
	State    string
	Made     Moment
	PaidAt   Moment
	Session  string // the provider's id
	Refunds  []RefundRow
}

// RefundRow is one refund.
type RefundRow struct {
	ID     string
	Amount string
	State  string
	Reason string
	Made   Moment
}

// AdminCreative is one revision with its decision.
type AdminCreative struct {
	CreativeView
	ID        string
	DecidedAt Moment
	DecidedBy string
}

// LedgerRow is one event of the ledger.
type LedgerRow struct {
	Position string
	Kind     string
	At       Moment // recorded
	Blocks   string // signed, or empty
	Amount   string // signed, or empty
	Actor    string
}

// PaymentsPage lists payments: GET /admin/payments?state=.
type PaymentsPage struct {
	AdminPage
	State string
	Rows  []PaymentRow
	Next  string
}

// AnomaliesPage lists what was found not to be as it should: GET
// /admin/anomalies?show=all|open.
type AnomaliesPage struct {
	AdminPage
	All    bool // resolved ones too
	Rows   []AnomalyRow
	Notice *NoticeText // the answer to a button that came too late
	Next   string
	Pass   PassView
}

// AnomalyRow is one finding.
type AnomalyRow struct {
	ID        string
	Kind      string
	Message   string
	RentalID  string
	PaymentID string
	RefundID  string
	FirstSeen Moment
	LastSeen  Moment
	Action    string // what is to be done about it
	Done      string // what was done
	Resolved  Moment
	// Remedy, when set, are the words of a button that does something about it:
	// POST /admin/anomalies/{ID}/remedy. Each that is open can be resolved by a
	// person: POST /admin/anomalies/{ID}/resolve.
	Remedy string
}

// BlockedPage lists areas that are kept out of the market, and adds one. The
// form's fields: col, row, w, h, note, until (date and time, UTC).
type BlockedPage struct {
	AdminPage
	Canvas string // picture of the canvas
	Areas  []BlockedArea
	Form   BlockedForm
}

// BlockedArea is one blocked area. Its button posts to
// /admin/blocked/{id}/delete.
type BlockedArea struct {
	ID    string
	Place PlaceView
	Note  string
	Until Moment
	By    string
}

// BlockedForm keeps what was typed.
type BlockedForm struct {
	Request        string // request_id
	Col, Row, W, H string
	Note           string
	Until          string // "2006-01-02T15:04", UTC; empty: a year
	Problems       []Problem
}

// AdminsPage lists the admins. They are made on the command line.
type AdminsPage struct {
	AdminPage
	Rows []AdminRow
}

// AdminRow is one admin.
type AdminRow struct {
	Email    string
	Enabled  bool
	Made     Moment
	LastSeen Moment
	Tokens   int // valid API tokens
}

// adminLink is one entry of the admin's navigation.
type adminLink struct {
	href, text string
	count      int
}

func (p AdminPage) links() []adminLink {
	return []adminLink{
		{"/admin/reviews", "Reviews", p.Reviews},
		{"/admin/rentals", "Rentals", 0},
		{"/admin/payments", "Payments", 0},
		{"/admin/anomalies", "Anomalies", p.Anomalies},
		{"/admin/blocked", "Blocked areas", 0},
		{"/admin/admins", "Admins", 0},
		{"/admin/jobs/", "Jobs", 0},
	}
}

// filterLink is one state by which a list is filtered.
type filterLink struct {
	href, text string
	current    bool
}

func filters(path, query, present string, states ...string) []filterLink {
	links := make([]filterLink, 0, len(states)+1)
	for _, s := range append([]string{""}, states...) {
		v := url.Values{}
		if s != "" {
			v.Set("state", s)
		}
		if query != "" {
			v.Set("q", query)
		}
		href := path
		if len(v) > 0 {
			href += "?" + v.Encode()
		}
		links = append(links, filterLink{href, or(strings.ToUpper(s[:min(1, len(s))])+s[min(1, len(s)):], "All"), s == present})
	}
	return links
}

func adminRental(id string) string { return "/admin/rentals/" + url.PathEscape(id) }

func stateText(state, reason string) string {
	if reason == "" {
		return state
	}
	return state + ", " + strings.ReplaceAll(reason, "_", " ")
}

func itoa(n int) string { return strconv.Itoa(n) }

// titled gives an admin page its usual title.
func (p AdminPage) titled(title string) AdminPage {
	p.Page = p.Page.titled(title)
	return p
}

// uses adds modules to an admin page.
func (p AdminPage) uses(modules ...string) AdminPage {
	p.Page = p.Page.uses(modules...)
	return p
}
