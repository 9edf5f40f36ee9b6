package stripesim_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stripe/stripe-go/v76"

	"tuval/internal/stripesim"
	"tuval/internal/testdb"
)

// age lives through so many minutes.
func (s *stage) age(minutes int) {
	s.t.Helper()
	err := pgx.BeginFunc(s.t.Context(), s.pool, func(tx pgx.Tx) error {
		return stripesim.Age(s.t.Context(), tx, time.Duration(minutes)*time.Minute)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func TestSessionsEndByThemselves(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	open, paid := s.newSession(), s.paid()
	s.age(29)
	if found := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Get(open.ID, nil)); found.Status != "open" || found.ExpiresAt != open.ExpiresAt-29*60 {
		t.Errorf("two minutes before its end it is %s", found.Status)
	}
	s.age(3)
	s.ear.wants("checkout.session.expired")
	ended, _ := object[stripe.CheckoutSession](t, s.ear, "checkout.session.expired")
	if ended.ID != open.ID || ended.Status != "expired" || ended.URL != "" {
		t.Errorf("the event tells of %+v", ended)
	}
	if found := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Get(paid.ID, nil)); found.Status != "complete" {
		t.Errorf("the paid one is %s", found.Status)
	}
}

// Nobody runs the expirer here: a session is over all the same.
func TestTheEndIsExactOnRead(t *testing.T) {
	t.Parallel()
	s := &stage{t: t, pool: database(t), ear: newEar(t)}
	sim := must[*stripesim.Sim](t)(stripesim.New(stripesim.Options{Pool: s.pool, SecretKey: secretKey}))
	s.sim = sim
	s.url = serve(t, sim)
	s.api = stripeClient(s.url)
	id := s.newSession().ID
	to := func(offset string) {
		if _, err := s.pool.Exec(t.Context(), `UPDATE stripesim.sessions SET expires_at = now() + $1::interval`, offset); err != nil {
			t.Fatal(err)
		}
	}
	to("1 minute")
	if found := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Get(id, nil)); found.Status != "open" {
		t.Errorf("before its end it is %s", found.Status)
	}
	to("-1 microsecond")
	if found := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Get(id, nil)); found.Status != "expired" || found.URL != "" {
		t.Errorf("after its end it is %s", found.Status)
	}
	_, err := s.sim.Pay(t.Context(), id, stripesim.Payment{})
	conflict(t, err)
	_, err = s.sim.Decline(t.Context(), id)
	conflict(t, err)
	if _, err := s.api.CheckoutSessions.Expire(id, nil); err == nil {
		t.Error("a session that is over was expired once more")
	}
	it := s.api.CheckoutSessions.List(&stripe.CheckoutSessionListParams{Status: stripe.String("open")})
	if it.Next() {
		t.Error("a session that is over is in the list of open ones")
	}
}

func TestAgeMovesOrdersAndLeavesTheRest(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	paid := s.paid()
	refund := must[*stripe.Refund](t)(s.api.Refunds.New(&stripe.RefundParams{PaymentIntent: &paid.PaymentIntent.ID}))
	event := firstEvent(t, s)
	s.age(60)
	if again := must[*stripe.Refund](t)(s.api.Refunds.Get(refund.ID, nil)); again.Created != refund.Created-3600 {
		t.Errorf("the refund moved by %d s", again.Created-refund.Created)
	}
	if again := must[*stripe.Event](t)(s.api.Events.Get(event.ID, nil)); again.Created != event.Created {
		t.Error("an event moved")
	}
}

func TestAgeWhereThereIsNoSimulator(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.Options{Empty: true})
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error { return stripesim.Age(t.Context(), tx, time.Hour) })
	if err != nil {
		t.Errorf("without a schema: %v", err)
	}
	err = pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error { return stripesim.Age(t.Context(), tx, 0) })
	if err == nil {
		t.Error("aging by nothing was accepted")
	}
}

func TestFiveProcessesMigrateAtOnce(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.Options{Empty: true})
	errs := crowd(5, func(int) error { return stripesim.Migrate(context.Background(), pool) })
	for _, err := range append(errs, stripesim.Migrate(t.Context(), pool)) {
		if err != nil {
			t.Error(err)
		}
	}
	var versions int
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM stripesim.versions`).Scan(&versions); err != nil || versions != 1 {
		t.Errorf("%d versions, %v", versions, err)
	}
}

func TestProcessesShareAndSurvive(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	open := s.newSession()
	_, other := s.start()
	found := must[*stripe.CheckoutSession](t)(stripeClient(other).CheckoutSessions.Get(open.ID, nil))
	if found.ID != open.ID || found.URL != other+"/c/pay/"+open.ID {
		t.Errorf("the other process shows %+v", found)
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { s.paid() })
	}
	all.Wait()
	if err := s.sim.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if heard := s.ear.types(); len(heard) != 20 {
		t.Errorf("two senders sent %d webhooks for 20 events", len(heard))
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	pool := database(t)
	for name, o := range map[string]stripesim.Options{
		"production":                {Pool: pool, SecretKey: secretKey, Production: true},
		"no pool":                   {SecretKey: secretKey},
		"no key":                    {Pool: pool},
		"a live key":                {Pool: pool, SecretKey: "sk_live_1"},
		"webhooks without a secret": {Pool: pool, SecretKey: secretKey, WebhookURL: "http://127.0.0.1:1/"},
	} {
		if _, err := stripesim.New(o); err == nil {
			t.Errorf("made with %s", name)
		}
	}
}
