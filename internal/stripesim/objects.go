package stripesim

import (
	"encoding/json"

	"github.com/jackc/pgx/v5/pgtype"
)

// The objects below are Stripe's JSON. Fields are read from columns of the
// same name; those marked db:"-" are filled in by complete. Times are unix
// seconds, amounts minor units.

// Ref is another object: its id, or the object itself once expanded.
type Ref struct {
	ID     string
	Object any
}

// MarshalJSON writes the object, the id, or null.
func (r Ref) MarshalJSON() ([]byte, error) {
	switch {
	case r.Object != nil:
		return json.Marshal(r.Object)
	case r.ID != "":
		return json.Marshal(r.ID)
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads an id, null, or the id of an object that is there in full.
func (r *Ref) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '{' {
		return json.Unmarshal(b, &r.ID)
	}
	var object struct {
		ID string `json:"id"`
	}
	err := json.Unmarshal(b, &object)
	r.ID = object.ID
	return err
}

// ScanText reads the id from a column.
func (r *Ref) ScanText(v pgtype.Text) error {
	r.ID = v.String
	return nil
}

// Session is a checkout session.
type Session struct {
	ID                 string            `json:"id"`
	Object             string            `json:"object" db:"-"`
	AmountSubtotal     int64             `json:"amount_subtotal" db:"-"`
	AmountTotal        int64             `json:"amount_total"`
	AutomaticTax       map[string]any    `json:"automatic_tax" db:"-"`
	CancelURL          *string           `json:"cancel_url"`
	ClientReferenceID  *string           `json:"client_reference_id"`
	Created            int64             `json:"created"`
	Currency           string            `json:"currency"`
	Customer           *string           `json:"customer" db:"-"`
	CustomerDetails    *CustomerDetails  `json:"customer_details" db:"-"`
	CustomerEmail      *string           `json:"customer_email"`
	ExpiresAt          int64             `json:"expires_at"`
	LineItems          *List             `json:"line_items,omitempty" db:"-"`
	Livemode           bool              `json:"livemode" db:"-"`
	Locale             *string           `json:"locale"`
	Metadata           map[string]string `json:"metadata"`
	Mode               string            `json:"mode" db:"-"`
	PaymentIntent      Ref               `json:"payment_intent"`
	PaymentMethodTypes []string          `json:"payment_method_types"`
	PaymentStatus      string            `json:"payment_status"`
	Status             string            `json:"status"`
	SubmitType         *string           `json:"submit_type"`
	Subscription       *string           `json:"subscription" db:"-"`
	SuccessURL         string            `json:"success_url"`
	TotalDetails       map[string]int64  `json:"total_details" db:"-"`
	UIMode             string            `json:"ui_mode" db:"-"`
	URL                *string           `json:"url" db:"-"`

	PayerEmail        *string           `json:"-"`
	Items             []lineItem        `json:"-" db:"line_items"`
	IntentMetadata    map[string]string `json:"-"`
	IntentDescription *string           `json:"-"`
	DeclineMessage    *string           `json:"-"`
}

// CustomerDetails are what the payer typed on the pay page.
type CustomerDetails struct {
	Email *string `json:"email"`
	Name  *string `json:"name"`
}

// payerName is who pays at the simulator; not ASCII, on purpose.
const payerName = "Zoë Öztürk"

// complete fills in what is not a column. base is where the pay pages are;
// only an open session has an address, as at Stripe.
func (s *Session) complete(base string) *Session {
	s.Object, s.Mode, s.UIMode = "checkout.session", "payment", "hosted"
	s.AmountSubtotal = s.AmountTotal
	s.AutomaticTax = map[string]any{"enabled": false, "status": nil}
	s.TotalDetails = map[string]int64{"amount_discount": 0, "amount_shipping": 0, "amount_tax": 0}
	if s.Status == statusOpen && base != "" {
		address := base + payPath + s.ID
		s.URL = &address
	}
	switch {
	case s.PayerEmail != nil:
		name := payerName
		s.CustomerDetails = &CustomerDetails{Email: s.PayerEmail, Name: &name}
	case s.CustomerEmail != nil:
		s.CustomerDetails = &CustomerDetails{Email: s.CustomerEmail}
	}
	return s
}

// The states of a session.
const (
	statusOpen     = "open"
	statusComplete = "complete"
	statusExpired  = "expired"
)

// lineItem is one thing bought, as kept with its session.
type lineItem struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	UnitAmount  int64  `json:"unit_amount"`
	Quantity    int64  `json:"quantity"`
	Currency    string `json:"currency"`
}

func (l lineItem) total() int64 { return l.UnitAmount * l.Quantity }

// stripe is the item as Stripe shows it under a session.
func (l lineItem) stripe() map[string]any {
	return map[string]any{
		"id": l.ID, "object": "item", "description": l.Name, "quantity": l.Quantity, "currency": l.Currency,
		"amount_subtotal": l.total(), "amount_total": l.total(), "amount_discount": 0, "amount_tax": 0,
		"price": map[string]any{
			"id": "price_" + l.ID, "object": "price", "active": false, "currency": l.Currency, "type": "one_time",
			"unit_amount": l.UnitAmount, "product": "prod_" + l.ID, "livemode": false,
		},
	}
}

// PaymentIntent is the payment behind a session, from its first attempt on.
type PaymentIntent struct {
	ID                 string            `json:"id"`
	Object             string            `json:"object" db:"-"`
	Amount             int64             `json:"amount"`
	AmountReceived     int64             `json:"amount_received" db:"-"`
	CaptureMethod      string            `json:"capture_method" db:"-"`
	Created            int64             `json:"created"`
	Currency           string            `json:"currency"`
	Description        *string           `json:"description"`
	LastPaymentError   *Error            `json:"last_payment_error" db:"-"`
	LatestCharge       Ref               `json:"latest_charge"`
	Livemode           bool              `json:"livemode" db:"-"`
	Metadata           map[string]string `json:"metadata"`
	PaymentMethodTypes []string          `json:"payment_method_types"`
	Status             string            `json:"status"`

	DeclineMessage *string `json:"-"`
}

func (p *PaymentIntent) complete() *PaymentIntent {
	p.Object, p.CaptureMethod = "payment_intent", "automatic"
	if p.Status == "succeeded" {
		p.AmountReceived = p.Amount
	}
	if p.DeclineMessage != nil {
		p.LastPaymentError = &Error{Type: "card_error", Code: "card_declined", Message: *p.DeclineMessage}
	}
	return p
}

// Charge is one attempt to take the money of a payment intent.
type Charge struct {
	ID                   string            `json:"id"`
	Object               string            `json:"object" db:"-"`
	Amount               int64             `json:"amount"`
	AmountCaptured       int64             `json:"amount_captured" db:"-"`
	AmountRefunded       int64             `json:"amount_refunded"`
	BillingDetails       *CustomerDetails  `json:"billing_details" db:"-"`
	Captured             bool              `json:"captured" db:"-"`
	Created              int64             `json:"created"`
	Currency             string            `json:"currency"`
	Description          *string           `json:"description"`
	Disputed             bool              `json:"disputed" db:"-"`
	FailureCode          *string           `json:"failure_code" db:"-"`
	FailureMessage       *string           `json:"failure_message"`
	Livemode             bool              `json:"livemode" db:"-"`
	Metadata             map[string]string `json:"metadata"`
	Paid                 bool              `json:"paid" db:"-"`
	PaymentIntent        Ref               `json:"payment_intent"`
	PaymentMethodDetails map[string]any    `json:"payment_method_details" db:"-"`
	Refunded             bool              `json:"refunded" db:"-"`
	Status               string            `json:"status"`

	Email        *string `json:"-"`
	Method       string  `json:"-"`
	DisputeState string  `json:"-"`
}

func (c *Charge) complete() *Charge {
	c.Object = "charge"
	c.Captured = c.Status == "succeeded"
	c.Paid = c.Captured
	c.Disputed = c.DisputeState != "none"
	c.Refunded = c.AmountRefunded == c.Amount
	if c.Captured {
		c.AmountCaptured = c.Amount
	}
	if c.Status == "failed" {
		declined := "card_declined"
		c.FailureCode = &declined
	}
	name := payerName
	c.BillingDetails = &CustomerDetails{Email: c.Email, Name: &name}
	c.PaymentMethodDetails = map[string]any{"type": c.Method}
	if c.Method == "card" {
		c.PaymentMethodDetails["card"] = map[string]any{"brand": "visa", "last4": "4242", "exp_month": 12, "exp_year": 2034, "country": "US"}
	}
	return c
}

// Refund is money on its way back.
type Refund struct {
	ID            string            `json:"id"`
	Object        string            `json:"object" db:"-"`
	Amount        int64             `json:"amount"`
	Charge        Ref               `json:"charge"`
	Created       int64             `json:"created"`
	Currency      string            `json:"currency"`
	FailureReason *string           `json:"failure_reason,omitempty"`
	Metadata      map[string]string `json:"metadata"`
	PaymentIntent Ref               `json:"payment_intent"`
	Reason        *string           `json:"reason"`
	Status        string            `json:"status"`
}

func (r *Refund) complete() *Refund {
	r.Object = "refund"
	return r
}

// Dispute is a payer's bank that wants the money back.
type Dispute struct {
	ID            string            `json:"id"`
	Object        string            `json:"object" db:"-"`
	Amount        int64             `json:"amount"`
	Charge        Ref               `json:"charge"`
	Created       int64             `json:"created"`
	Currency      string            `json:"currency"`
	Livemode      bool              `json:"livemode" db:"-"`
	Metadata      map[string]string `json:"metadata" db:"-"`
	PaymentIntent Ref               `json:"payment_intent"`
	Reason        string            `json:"reason"`
	Status        string            `json:"status"`
}

func (d *Dispute) complete() *Dispute {
	d.Object, d.Metadata = "dispute", map[string]string{}
	return d
}

// List is a page of a list.
type List struct {
	Object  string `json:"object"`
	URL     string `json:"url"`
	HasMore bool   `json:"has_more"`
	Data    []any  `json:"data"`
}
