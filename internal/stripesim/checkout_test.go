package stripesim_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"

	"tuval/internal/stripesim"
)

func TestASessionIsWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	made := s.newSession()
	if made.LastResponse.RequestID == "" || made.LastResponse.StatusCode != http.StatusOK {
		t.Errorf("answered %d, request %q", made.LastResponse.StatusCode, made.LastResponse.RequestID)
	}
	found := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Get(made.ID, nil))
	for _, c := range []*stripe.CheckoutSession{made, found} {
		switch {
		case !strings.HasPrefix(c.ID, "cs_test_"), c.Object != "checkout.session", c.Livemode, c.Mode != "payment",
			c.Status != "open", c.PaymentStatus != "unpaid", c.AmountTotal != 960000, c.Currency != "usd",
			c.ClientReferenceID != "pay_1", c.Metadata["rental_id"] != "r1", c.CustomerEmail != "buyer@example.com",
			c.PaymentIntent != nil, c.URL != s.url+"/c/pay/"+made.ID, c.ExpiresAt-c.Created != 31*60 && c.ExpiresAt-c.Created != 31*60-1,
			len(c.PaymentMethodTypes) != 1, c.CancelURL == "", !strings.Contains(c.SuccessURL, "{CHECKOUT_SESSION_ID}"):
			t.Errorf("the session is not what was asked for: %+v", c)
		}
	}
}

func TestASessionWithNothingSaidIsOpenForADay(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := checkout()
	p.ExpiresAt, p.CancelURL, p.CustomerEmail, p.PaymentMethodTypes = nil, nil, nil, nil
	made := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(p))
	if made.ExpiresAt-made.Created != 24*60*60 || made.CustomerDetails != nil || made.PaymentMethodTypes[0] != "card" {
		t.Errorf("defaults: %+v", made)
	}
}

// Against the real clock the edges need some slack; the next test is exact.
func TestExpiresAtIsBounded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, c := range []struct {
		in time.Duration
		ok bool
	}{
		{-time.Hour, false},
		{0, false},
		{30*time.Minute - 2*time.Second, false},
		{30*time.Minute + 5*time.Second, true},
		{24*time.Hour - 5*time.Second, true},
		{24*time.Hour + 5*time.Second, false},
	} {
		p := checkout()
		p.ExpiresAt = stripe.Int64(time.Now().Add(c.in).Unix())
		_, err := s.api.CheckoutSessions.New(p)
		if c.ok && err != nil {
			t.Errorf("%s from now was refused: %v", c.in, err)
		}
		if !c.ok {
			refusal(t, err, http.StatusBadRequest, "", "expires_at")
		}
	}
}

func TestExpiresAtIsExactToTheSecond(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seconds int64
		ok      bool
	}{{30*60 - 1, false}, {30 * 60, true}, {24 * 60 * 60, true}, {24*60*60 + 1, false}} {
		if err := stripesim.CheckExpiry(c.seconds); (err == nil) != c.ok {
			t.Errorf("%d s after creation: %v", c.seconds, err)
		}
	}
}

func TestParametersAreChecked(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	long := strings.Repeat("ü", 501)
	many := map[string]string{}
	for i := range 51 {
		many[fmt.Sprintf("key%d", i)] = "v"
	}
	price := func(p *stripe.CheckoutSessionParams) *stripe.CheckoutSessionLineItemPriceDataParams {
		return p.LineItems[0].PriceData
	}
	cases := map[string]struct {
		change func(p *stripe.CheckoutSessionParams)
		code   stripe.ErrorCode
		param  string
	}{
		"no mode":           {func(p *stripe.CheckoutSessionParams) { p.Mode = nil }, "parameter_missing", "mode"},
		"subscription":      {func(p *stripe.CheckoutSessionParams) { p.Mode = stripe.String("subscription") }, "", "mode"},
		"no items":          {func(p *stripe.CheckoutSessionParams) { p.LineItems = nil }, "parameter_missing", "line_items"},
		"no price":          {func(p *stripe.CheckoutSessionParams) { p.LineItems[0].PriceData = nil }, "parameter_missing", "line_items[0][price_data]"},
		"no quantity":       {func(p *stripe.CheckoutSessionParams) { p.LineItems[0].Quantity = nil }, "parameter_missing", "line_items[0][quantity]"},
		"quantity 0":        {func(p *stripe.CheckoutSessionParams) { p.LineItems[0].Quantity = stripe.Int64(0) }, "parameter_invalid_integer", "line_items[0][quantity]"},
		"no currency":       {func(p *stripe.CheckoutSessionParams) { price(p).Currency = nil }, "parameter_missing", "line_items[0][price_data][currency]"},
		"unknown currency":  {func(p *stripe.CheckoutSessionParams) { price(p).Currency = stripe.String("xxx") }, "", "line_items[0][price_data][currency]"},
		"no name":           {func(p *stripe.CheckoutSessionParams) { price(p).ProductData.Name = nil }, "parameter_missing", "line_items[0][price_data][product_data][name]"},
		"negative amount":   {func(p *stripe.CheckoutSessionParams) { price(p).UnitAmount = stripe.Int64(-1) }, "parameter_invalid_integer", "line_items[0][price_data][unit_amount]"},
		"below the minimum": {func(p *stripe.CheckoutSessionParams) { price(p).UnitAmount = stripe.Int64(49) }, "amount_too_small", "line_items"},
		"above the maximum": {func(p *stripe.CheckoutSessionParams) { price(p).UnitAmount = stripe.Int64(100000000) }, "amount_too_large", "line_items"},
		"overflow":          {func(p *stripe.CheckoutSessionParams) { overflow(p) }, "amount_too_large", "line_items"},
		"pounds below": {func(p *stripe.CheckoutSessionParams) {
			price(p).Currency, price(p).UnitAmount = stripe.String("gbp"), stripe.Int64(29)
		}, "amount_too_small", "line_items"},
		"yen below": {func(p *stripe.CheckoutSessionParams) {
			price(p).Currency, price(p).UnitAmount = stripe.String("jpy"), stripe.Int64(49)
		}, "amount_too_small", "line_items"},
		"dinars not in tens": {func(p *stripe.CheckoutSessionParams) {
			price(p).Currency, price(p).UnitAmount = stripe.String("kwd"), stripe.Int64(1005)
		}, "", "line_items"},
		"two currencies":     {func(p *stripe.CheckoutSessionParams) { secondItem(p, "eur") }, "", "line_items[1][price_data]"},
		"no success_url":     {func(p *stripe.CheckoutSessionParams) { p.SuccessURL = nil }, "parameter_missing", "success_url"},
		"relative success":   {func(p *stripe.CheckoutSessionParams) { p.SuccessURL = stripe.String("/rentals/1") }, "url_invalid", "success_url"},
		"script success":     {func(p *stripe.CheckoutSessionParams) { p.SuccessURL = stripe.String("javascript:alert(1)") }, "url_invalid", "success_url"},
		"bad cancel":         {func(p *stripe.CheckoutSessionParams) { p.CancelURL = stripe.String("http://") }, "url_invalid", "cancel_url"},
		"long reference":     {func(p *stripe.CheckoutSessionParams) { p.ClientReferenceID = stripe.String(long[:402]) }, "", "client_reference_id"},
		"bad e-mail":         {func(p *stripe.CheckoutSessionParams) { p.CustomerEmail = stripe.String("nobody") }, "email_invalid", "customer_email"},
		"e-mail with a name": {func(p *stripe.CheckoutSessionParams) { p.CustomerEmail = stripe.String("Ann <a@example.com>") }, "email_invalid", "customer_email"},
		"unknown method":     {func(p *stripe.CheckoutSessionParams) { p.PaymentMethodTypes[0] = stripe.String("shells") }, "", "payment_method_types"},
		"51 keys":            {func(p *stripe.CheckoutSessionParams) { p.Metadata = many }, "", "metadata"},
		"key of 41":          {func(p *stripe.CheckoutSessionParams) { p.Metadata = map[string]string{strings.Repeat("k", 41): "v"} }, "", "metadata"},
		"value of 501":       {func(p *stripe.CheckoutSessionParams) { p.Metadata = map[string]string{"k": long} }, "", "metadata[k]"},
		"intent's value":     {func(p *stripe.CheckoutSessionParams) { p.PaymentIntentData.Metadata = map[string]string{"k": long} }, "", "payment_intent_data[metadata][k]"},
		"what it cannot":     {func(p *stripe.CheckoutSessionParams) { p.Customer = stripe.String("cus_1") }, "parameter_unknown", "customer"},
		"tax": {func(p *stripe.CheckoutSessionParams) {
			p.AutomaticTax = &stripe.CheckoutSessionAutomaticTaxParams{Enabled: stripe.Bool(true)}
		}, "", "automatic_tax[enabled]"},
		"unknown expansion": {func(p *stripe.CheckoutSessionParams) { p.AddExpand("customer") }, "", "expand"},
	}
	for name, c := range cases {
		p := checkout()
		c.change(p)
		t.Run(name, func(t *testing.T) {
			_, err := s.api.CheckoutSessions.New(p)
			e := refusal(t, err, http.StatusBadRequest, c.code, c.param)
			if e.Type != stripe.ErrorTypeInvalidRequest {
				t.Errorf("type %s", e.Type)
			}
		})
	}
	if calls := must[map[string]int](t)(s.sim.Counts(t.Context())); calls["POST /v1/checkout/sessions"] != len(cases) {
		t.Errorf("the journal counts %v", calls)
	}
}

func overflow(p *stripe.CheckoutSessionParams) {
	p.LineItems[0].PriceData.UnitAmount = stripe.Int64(999_999_999_999)
	p.LineItems[0].Quantity = stripe.Int64(999_999_999)
}

func secondItem(p *stripe.CheckoutSessionParams, currency string) {
	p.LineItems = append(p.LineItems, &stripe.CheckoutSessionLineItemParams{
		Quantity: stripe.Int64(3),
		PriceData: &stripe.CheckoutSessionLineItemPriceDataParams{
			Currency: stripe.String(currency), UnitAmount: stripe.Int64(333),
			ProductData: &stripe.CheckoutSessionLineItemPriceDataProductDataParams{Name: stripe.String("More")},
		},
	})
}

func TestLimitsThemselvesPass(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := checkout()
	p.Metadata = map[string]string{strings.Repeat("k", 40): strings.Repeat("ü", 500), "empty": ""}
	for i := range 49 {
		p.Metadata[fmt.Sprintf("key%d", i)] = "v"
	}
	p.ClientReferenceID = stripe.String(strings.Repeat("r", 200))
	secondItem(p, "USD")
	p.AddExpand("line_items")
	made := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(p))
	if len(made.Metadata) != 50 || made.AmountTotal != 960000+999 || len(made.LineItems.Data) != 2 || made.LineItems.Data[1].Quantity != 3 {
		t.Errorf("the session is %+v with %d keys", made, len(made.Metadata))
	}
	for _, amount := range []int64{50, 99999999} {
		p := checkout()
		p.LineItems[0].PriceData.UnitAmount = stripe.Int64(amount)
		if made := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(p)); made.AmountTotal != amount {
			t.Errorf("%d became %d", amount, made.AmountTotal)
		}
	}
}

func TestNobodyWithoutTheKey(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, header := range []string{"", "Bearer sk_test_other", "Bearer ", "Basic !!!", secretKey} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/refunds", nil)
		if header != "" {
			req.Header.Set("Authorization", header)
		}
		res := must[*http.Response](t)(http.DefaultClient.Do(req))
		_ = res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized || res.Header.Get("Request-Id") == "" {
			t.Errorf("with %q: %d", header, res.StatusCode)
		}
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/refunds", nil)
	req.SetBasicAuth(secretKey, "")
	res := must[*http.Response](t)(http.DefaultClient.Do(req))
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("basic authentication: %d", res.StatusCode)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	_, err := s.api.CheckoutSessions.Get("cs_test_none", nil)
	refusal(t, err, http.StatusNotFound, "resource_missing", "id")
	_, err = s.api.CheckoutSessions.Expire("cs_test_none", nil)
	refusal(t, err, http.StatusNotFound, "resource_missing", "id")
	_, err = s.api.PaymentIntents.Get("pi_none", nil)
	refusal(t, err, http.StatusNotFound, "resource_missing", "id")
	_, err = s.api.Charges.Get("ch_none", nil)
	refusal(t, err, http.StatusNotFound, "resource_missing", "id")
	_, err = s.api.Refunds.Get("re_none", nil)
	refusal(t, err, http.StatusNotFound, "resource_missing", "id")
	_, err = s.api.Events.Get("evt_none", nil)
	refusal(t, err, http.StatusNotFound, "resource_missing", "id")
	_, err = s.api.Customers.Get("cus_none", nil)
	refusal(t, err, http.StatusNotFound, "", "")
	_, err = s.api.CheckoutSessions.Get("cs%00\xff", nil)
	if err == nil {
		t.Error("an id that is no text was answered")
	}
}

func TestExpireByHand(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	open := s.newSession()
	ended := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Expire(open.ID, nil))
	if ended.Status != "expired" || ended.URL != "" {
		t.Errorf("after expire: %s, %q", ended.Status, ended.URL)
	}
	_, err := s.api.CheckoutSessions.Expire(open.ID, nil)
	refusal(t, err, http.StatusBadRequest, "", "")
	paid := s.paid()
	_, err = s.api.CheckoutSessions.Expire(paid.ID, nil)
	if e := refusal(t, err, http.StatusBadRequest, "", ""); !strings.Contains(e.Msg, "`complete`") {
		t.Errorf("the refusal does not say why: %s", e.Msg)
	}
	s.ear.wants("checkout.session.expired", "checkout.session.completed")
}

func TestSessionsAreListed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var ids []string
	for range 5 {
		ids = append(ids, s.newSession().ID)
	}
	must[*stripesim.Session](t)(s.sim.Pay(t.Context(), ids[2], stripesim.Payment{}))
	must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Expire(ids[4], nil))
	list := func(change func(p *stripe.CheckoutSessionListParams)) (found []string) {
		p := &stripe.CheckoutSessionListParams{}
		change(p)
		for it := s.api.CheckoutSessions.List(p); it.Next(); {
			found = append(found, it.CheckoutSession().ID)
		}
		return found
	}
	intent := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Get(ids[2], nil)).PaymentIntent.ID
	for name, c := range map[string]struct {
		got  []string
		want []string
	}{
		"all, page by page": {list(func(p *stripe.CheckoutSessionListParams) { p.Limit = stripe.Int64(2) }), []string{ids[4], ids[3], ids[2], ids[1], ids[0]}},
		"of an intent":      {list(func(p *stripe.CheckoutSessionListParams) { p.PaymentIntent = &intent }), ids[2:3]},
		"expired":           {list(func(p *stripe.CheckoutSessionListParams) { p.Status = stripe.String("expired") }), ids[4:5]},
		"from tomorrow on": {list(func(p *stripe.CheckoutSessionListParams) {
			p.CreatedRange = &stripe.RangeQueryParams{GreaterThanOrEqual: time.Now().Unix() + 86400}
		}), nil},
		"newer than the 4th": {list(func(p *stripe.CheckoutSessionListParams) {
			p.EndingBefore, p.Single = &ids[3], true
		}), []string{ids[4]}},
	} {
		if fmt.Sprint(c.got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}
