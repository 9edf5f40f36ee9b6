package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/checkout/session"
	"github.com/stripe/stripe-go/v76/refund"

	"tuval/internal/fault"
)

var (
	// ErrRefused wraps an answer of Stripe's that trying again cannot heal.
	ErrRefused = errors.New("stripe refused")
	// ErrInUse says that another call with the same idempotency key is under
	// way: its answer is had by asking again in a moment.
	ErrInUse = errors.New("the idempotency key is in use")
	// ErrSpent says that Stripe repeated a failure that it keeps under the
	// idempotency key. It would do so for a day: only another key can help.
	ErrSpent = errors.New("the idempotency key is spent on a failure")
)

// Settings say where Stripe is.
type Settings struct {
	SecretKey string
	URL       string        // empty: Stripe's own
	Timeout   time.Duration // for one call; zero: 20 s
}

// Client calls Stripe.
type Client struct {
	sessions session.Client
	refunds  refund.Client
	live     bool
}

// New makes a client. It does not call yet.
func New(s Settings, live bool) *Client {
	timeout := s.Timeout
	if timeout == 0 {
		timeout = 20 * time.Second
	}
	config := &stripe.BackendConfig{
		HTTPClient:        &http.Client{Timeout: timeout, Transport: newTransport()},
		MaxNetworkRetries: stripe.Int64(0),
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
	}
	if s.URL != "" {
		config.URL = stripe.String(s.URL)
	}
	b := stripe.GetBackendWithConfig(stripe.APIBackend, config)
	return &Client{
		sessions: session.Client{B: b, Key: s.SecretKey},
		refunds:  refund.Client{B: b, Key: s.SecretKey},
		live:     live,
	}
}

// Livemode reports whether the key moves real money.
func (c *Client) Livemode() bool { return c.live }

// Purchase is what a payment page offers.
type Purchase struct {
	IdempotencyKey string
	PaymentKey     string
	RentalKey      string
	Title          string
	Amount         int64 // minor units
	Currency       string
	Email          string
	ExpiresAt      time.Time
	SuccessURL     string
	CancelURL      string
}

// The states of a payment page at Stripe.
const (
	SessionOpen     = "open"
	SessionComplete = "complete"
	SessionExpired  = "expired"
)

// Session is what Stripe says of a payment page.
type Session struct {
	ID            string
	URL           string
	Status        string // SessionOpen, SessionComplete or SessionExpired
	PaymentStatus string // paid, unpaid, no_payment_required
	Reference     string // our payment key
	PaymentKey    string // the same, from the metadata
	RentalKey     string
	Amount        int64
	Currency      string
	Livemode      bool
	PaymentIntent string
}

// Paid reports whether the money arrived.
func (s Session) Paid() bool { return s.Status == SessionComplete && s.PaymentStatus == "paid" }

// Processing reports whether the buyer is done and the money is under way.
func (s Session) Processing() bool { return s.Status == SessionComplete && s.PaymentStatus == "unpaid" }

// keyPause is how long a call waits that met its key in use.
const keyPause = 250 * time.Millisecond

// Begin makes a payment page, or gives the one again that was made with the
// same key. Meeting another copy of itself at Stripe, it waits for the answer
// of that one, as long as ctx lasts.
func (c *Client) Begin(ctx context.Context, p Purchase) (Session, error) {
	for {
		s, err := c.begin(ctx, p)
		if !errors.Is(err, ErrInUse) {
			return s, err
		}
		pause := time.NewTimer(keyPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return s, err
		}
	}
}

func (c *Client) begin(ctx context.Context, p Purchase) (Session, error) {
	metadata := map[string]string{"payment_id": p.PaymentKey, "rental_id": p.RentalKey}
	params := &stripe.CheckoutSessionParams{
		Mode:               stripe.String(string(stripe.CheckoutSessionModePayment)),
		PaymentMethodTypes: stripe.StringSlice([]string{"card"}),
		ClientReferenceID:  stripe.String(p.PaymentKey),
		CustomerEmail:      stripe.String(p.Email),
		ExpiresAt:          stripe.Int64(p.ExpiresAt.Unix()),
		SuccessURL:         stripe.String(p.SuccessURL),
		CancelURL:          stripe.String(p.CancelURL),
		LineItems: []*stripe.CheckoutSessionLineItemParams{{
			Quantity: stripe.Int64(1),
			PriceData: &stripe.CheckoutSessionLineItemPriceDataParams{
				Currency:    stripe.String(p.Currency),
				UnitAmount:  stripe.Int64(p.Amount),
				ProductData: &stripe.CheckoutSessionLineItemPriceDataProductDataParams{Name: stripe.String(p.Title)},
			},
		}},
		PaymentIntentData: &stripe.CheckoutSessionPaymentIntentDataParams{Metadata: metadata},
	}
	params.Metadata = metadata
	params.Context = ctx
	params.SetIdempotencyKey(p.IdempotencyKey)
	s, err := c.sessions.New(params)
	if err != nil {
		return Session{}, explain("begin a checkout", err)
	}
	return sessionOf(s), nil
}

// Get asks what became of a payment page.
func (c *Client) Get(ctx context.Context, id string) (Session, error) {
	params := &stripe.CheckoutSessionParams{}
	params.Context = ctx
	s, err := c.sessions.Get(id, params)
	if err != nil {
		return Session{}, explain("read a checkout", err)
	}
	return sessionOf(s), nil
}

// Expire makes an open payment page unpayable. Stripe refuses for one that is
// not open: ask Get what it is then.
func (c *Client) Expire(ctx context.Context, id, idempotencyKey string) (Session, error) {
	params := &stripe.CheckoutSessionExpireParams{}
	params.Context = ctx
	params.SetIdempotencyKey(idempotencyKey)
	s, err := c.sessions.Expire(id, params)
	if err != nil {
		return Session{}, explain("expire a checkout", err)
	}
	return sessionOf(s), nil
}

func sessionOf(s *stripe.CheckoutSession) Session {
	out := Session{
		ID: s.ID, URL: s.URL, Status: string(s.Status), PaymentStatus: string(s.PaymentStatus),
		Reference: s.ClientReferenceID, PaymentKey: s.Metadata["payment_id"], RentalKey: s.Metadata["rental_id"],
		Amount: s.AmountTotal, Currency: string(s.Currency), Livemode: s.Livemode,
	}
	if s.PaymentIntent != nil {
		out.PaymentIntent = s.PaymentIntent.ID
	}
	return out
}

// explain sorts Stripe's errors into "away, try again" and "refused".
func explain(op string, err error) error {
	err = fmt.Errorf("gateway: %s: %w", op, err)
	var se *stripe.Error
	if errors.As(err, &se) {
		switch {
		case refusal(se.HTTPStatusCode):
			return fmt.Errorf("%w: %w", ErrRefused, err)
		case se.Code == stripe.ErrorCodeIdempotencyKeyInUse:
			err = fmt.Errorf("%w: %w", ErrInUse, err)
		case replayed(se):
			err = fmt.Errorf("%w: %w", ErrSpent, err)
		}
	}
	return fault.Away("The payment service does not answer at the moment. Nothing was charged. Please try again.", 5*time.Second).Because(err)
}

// refusal reports whether a status says that the call itself is wrong. A
// wrong API key is the operator's to mend, and then the call is right.
func refusal(status int) bool {
	switch status {
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusUnauthorized:
		return false
	}
	return status >= 400 && status < 500
}

// replayed reports whether the answer is one that Stripe had stored under the
// call's idempotency key.
func replayed(se *stripe.Error) bool {
	return se.LastResponse != nil && se.LastResponse.Header.Get("Idempotent-Replayed") == "true"
}
