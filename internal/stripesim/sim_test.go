package stripesim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/client"
	"github.com/stripe/stripe-go/v76/webhook"

	"tuval/internal/stripesim"
	"tuval/internal/testdb"
)

const (
	secretKey  = "sk_test_simulator"
	newSecret  = "whsec_new"
	oldSecret  = "whsec_old"
	rentalName = "24 blocks for 4 weeks"
)

// stage is a simulator with everything around it: the official client in
// front, an endpoint that hears its webhooks behind.
type stage struct {
	t    *testing.T
	pool *pgxpool.Pool
	sim  *stripesim.Sim
	url  string
	api  *client.API
	ear  *ear
}

func database(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool := testdb.New(t, testdb.Options{Empty: true})
	if err := stripesim.Migrate(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	return pool
}

// newStage sets up a simulator whose Run is going.
func newStage(t *testing.T, change ...func(*stripesim.Options)) *stage {
	t.Helper()
	s := &stage{t: t, pool: database(t), ear: newEar(t)}
	s.sim, s.url = s.start(change...)
	s.api = stripeClient(s.url)
	return s
}

// start makes one more process over the same database.
func (s *stage) start(change ...func(*stripesim.Options)) (*stripesim.Sim, string) {
	s.t.Helper()
	o := stripesim.Options{
		Pool: s.pool, SecretKey: secretKey, WebhookURL: s.ear.url, WebhookSecrets: []string{newSecret, oldSecret},
		Poll: 20 * time.Millisecond, RetryGap: func(int) time.Duration { return 10 * time.Millisecond },
	}
	for _, c := range change {
		c(&o)
	}
	sim, err := stripesim.New(o)
	if err != nil {
		s.t.Fatal(err)
	}
	server := httptest.NewServer(sim.Handler())
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = sim.Run(ctx)
	}()
	s.t.Cleanup(func() {
		server.Close()
		stop()
		<-ended
	})
	return sim, server.URL
}

func stripeClient(url string) *client.API {
	backend := stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{
		URL: stripe.String(url), MaxNetworkRetries: stripe.Int64(0), HTTPClient: &http.Client{Timeout: 20 * time.Second},
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})
	return client.New(secretKey, &stripe.Backends{API: backend})
}

// ear is a webhook endpoint. It checks every signature and keeps the events.
type ear struct {
	t      *testing.T
	url    string
	mu     sync.Mutex
	heard  []stripe.Event
	news   chan struct{}
	answer func(n int, e stripe.Event) int // status for the n-th call, from 1
	calls  int
}

func newEar(t *testing.T) *ear {
	e := &ear{t: t, news: make(chan struct{}, 10000)}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	e.url = server.URL + "/webhooks/stripe"
	return e
}

func (e *ear) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	payload, err := io.ReadAll(r.Body)
	if err != nil {
		return // the simulator is stopping
	}
	var event stripe.Event
	for _, secret := range []string{newSecret, oldSecret} {
		event, err = webhook.ConstructEventWithOptions(payload, r.Header.Get("Stripe-Signature"), secret, webhook.ConstructEventOptions{})
		if err != nil {
			e.t.Errorf("a webhook does not verify with %s: %v", secret, err)
		}
	}
	w.WriteHeader(e.note(event))
	e.news <- struct{}{}
}

func (e *ear) note(event stripe.Event) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls++
	status := http.StatusOK
	if e.answer != nil {
		status = e.answer(e.calls, event)
	}
	e.heard = append(e.heard, event)
	return status
}

func (e *ear) types() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []string
	for _, event := range e.heard {
		all = append(all, string(event.Type))
	}
	return all
}

// until waits for webhooks until the condition on their types holds.
func (e *ear) until(what string, ok func(types []string) bool) {
	e.t.Helper()
	deadline := time.After(10 * time.Second)
	for !ok(e.types()) {
		select {
		case <-e.news:
		case <-deadline:
			e.t.Fatalf("waited for %s; heard %q", what, e.types())
		}
	}
}

func (e *ear) wants(types ...string) {
	e.t.Helper()
	e.until(strings.Join(types, ", "), func(heard []string) bool {
		left := slices.Clone(heard)
		for _, want := range types {
			i := slices.Index(left, want)
			if i < 0 {
				return false
			}
			left = slices.Delete(left, i, i+1)
		}
		return true
	})
}

// object decodes the object of the first event of a type.
func object[T any](t *testing.T, e *ear, kind string) (v T, event stripe.Event) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, event := range e.heard {
		if string(event.Type) == kind {
			if err := json.Unmarshal(event.Data.Raw, &v); err != nil {
				t.Fatal(err)
			}
			return v, event
		}
	}
	t.Fatalf("no %s was heard", kind)
	return v, event
}

// checkout is what Tuval sends for 2,400 USD a week, four weeks.
func checkout() *stripe.CheckoutSessionParams {
	p := &stripe.CheckoutSessionParams{
		Mode:              stripe.String("payment"),
		ClientReferenceID: stripe.String("pay_1"),
		ExpiresAt:         stripe.Int64(time.Now().Add(31 * time.Minute).Unix()),
		SuccessURL:        stripe.String("http://127.0.0.1:8080/rentals/r1/return?session={CHECKOUT_SESSION_ID}"),
		CancelURL:         stripe.String("http://127.0.0.1:8080/rentals/r1"),
		CustomerEmail:     stripe.String("buyer@example.com"),
		PaymentMethodTypes: []*string{
			stripe.String("card"),
		},
		LineItems: []*stripe.CheckoutSessionLineItemParams{{
			Quantity: stripe.Int64(1),
			PriceData: &stripe.CheckoutSessionLineItemPriceDataParams{
				Currency: stripe.String("usd"), UnitAmount: stripe.Int64(960000),
				ProductData: &stripe.CheckoutSessionLineItemPriceDataProductDataParams{Name: stripe.String(rentalName)},
			},
		}},
		PaymentIntentData: &stripe.CheckoutSessionPaymentIntentDataParams{
			Metadata: map[string]string{"payment_id": "pay_1", "rental_id": "r1"},
		},
	}
	p.Metadata = map[string]string{"payment_id": "pay_1", "rental_id": "r1"}
	return p
}

func (s *stage) newSession() *stripe.CheckoutSession {
	s.t.Helper()
	made, err := s.api.CheckoutSessions.New(checkout())
	if err != nil {
		s.t.Fatal(err)
	}
	return made
}

// paid makes a session and pays it.
func (s *stage) paid() *stripe.CheckoutSession {
	s.t.Helper()
	id := s.newSession().ID
	if _, err := s.sim.Pay(s.t.Context(), id, stripesim.Payment{}); err != nil {
		s.t.Fatal(err)
	}
	found, err := s.api.CheckoutSessions.Get(id, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// must fails the test at once when there is an error.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// refusal checks the error of the official client.
func refusal(t *testing.T, err error, status int, code stripe.ErrorCode, param string) *stripe.Error {
	t.Helper()
	var e *stripe.Error
	if !errors.As(err, &e) {
		t.Fatalf("want a refusal %d %s, got %v", status, code, err)
	}
	if e.HTTPStatusCode != status || e.Code != code || e.Param != param {
		t.Errorf("refused with %d %q, param %q, want %d %q %q: %s", e.HTTPStatusCode, e.Code, e.Param, status, code, param, e.Msg)
	}
	if e.Msg == "" || e.RequestID == "" {
		t.Errorf("a refusal without words or request id: %v", e)
	}
	return e
}

// conflict checks that a control was refused because the object is past it.
func conflict(t *testing.T, err error) {
	t.Helper()
	var e *stripesim.Error
	if !errors.As(err, &e) || e.Status != http.StatusConflict {
		t.Errorf("want a refusal with 409, got %v", err)
	}
}

// post sends JSON to a test control and reads the answer into v.
func (s *stage) post(path, body string, status int, v any) {
	s.t.Helper()
	s.send(http.MethodPost, path, body, status, v)
}

func (s *stage) send(method, path, body string, status int, v any) {
	s.t.Helper()
	req := must[*http.Request](s.t)(http.NewRequestWithContext(s.t.Context(), method, s.url+path, bytes.NewBufferString(body)))
	res := must[*http.Response](s.t)(http.DefaultClient.Do(req))
	defer func() { _ = res.Body.Close() }()
	raw := must[[]byte](s.t)(io.ReadAll(res.Body))
	if res.StatusCode != status {
		s.t.Fatalf("%s %s answered %d, want %d: %s", method, path, res.StatusCode, status, raw)
	}
	if v != nil {
		if err := json.Unmarshal(raw, v); err != nil {
			s.t.Fatalf("%s %s: %v: %s", method, path, err, raw)
		}
	}
}

// crowd runs fn n times at one instant and gives what came of each.
func crowd[T any](n int, fn func(i int) T) []T {
	results := make([]T, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			results[i] = fn(i)
		})
	}
	close(start)
	all.Wait()
	return results
}
