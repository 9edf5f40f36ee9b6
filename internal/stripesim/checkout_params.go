package stripesim

import (
	"math"
	"slices"
	"strings"
	"time"

	"tuval/internal/money"
)

// newSession are the parameters of a session, checked as far as is possible
// without a clock.
type newSession struct {
	clientReferenceID  *string
	customerEmail      *string
	metadata           map[string]string
	intentMetadata     map[string]string
	intentDescription  *string
	items              []lineItem
	currency           money.Currency
	amount             int64
	paymentMethodTypes []string
	successURL         string
	cancelURL          *string
	locale, submitType *string
	expiresAt          *time.Time // nil: 24 hours after creation
	expand             []string
}

// readNewSession reads POST /v1/checkout/sessions. What Stripe takes and the
// simulator cannot act on is refused by name rather than ignored.
func readNewSession(p scope) (newSession, *Error) {
	p.only("allow_promotion_codes", "automatic_tax", "billing_address_collection", "cancel_url", "client_reference_id",
		"currency", "customer_creation", "customer_email", "expand", "expires_at", "invoice_creation", "line_items", "locale",
		"metadata", "mode", "payment_intent_data", "payment_method_types", "phone_number_collection", "submit_type",
		"success_url", "tax_id_collection", "ui_mode")
	p.required("mode")
	p.word("mode", "payment")
	p.word("ui_mode", "hosted")
	p.word("customer_creation", "always", "if_required")
	p.word("billing_address_collection", "auto", "required")
	p.never("allow_promotion_codes")
	for _, feature := range []string{"automatic_tax", "invoice_creation", "phone_number_collection", "tax_id_collection"} {
		in := p.in(feature)
		in.only("enabled")
		in.never("enabled")
	}
	n := newSession{
		clientReferenceID: p.optional("client_reference_id", 200),
		customerEmail:     p.email("customer_email"),
		metadata:          p.metadata("metadata"),
		locale:            p.optional("locale", 10),
		submitType:        p.optional("submit_type", 10),
		expiresAt:         readExpiry(p),
		expand:            p.texts("expand"),
	}
	p.word("submit_type", "auto", "book", "donate", "pay")
	n.readAddresses(p)
	n.readIntent(p)
	n.readMethods(p)
	n.readItems(p)
	return n, *p.err
}

func readExpiry(p scope) *time.Time {
	if !p.has("expires_at") {
		return nil
	}
	at := time.Unix(p.between("expires_at", 0, latest), 0).UTC()
	return &at
}

func (n *newSession) readAddresses(p scope) {
	p.required("success_url")
	n.successURL = p.address("success_url")
	if cancel := p.address("cancel_url"); cancel != "" {
		n.cancelURL = &cancel
	}
}

func (n *newSession) readIntent(p scope) {
	in := p.in("payment_intent_data")
	in.only("capture_method", "description", "metadata", "receipt_email", "statement_descriptor", "statement_descriptor_suffix")
	in.word("capture_method", "automatic", "automatic_async")
	n.intentMetadata = in.metadata("metadata")
	n.intentDescription = in.optional("description", 1000)
	in.email("receipt_email")
	in.optional("statement_descriptor", 22)
	in.optional("statement_descriptor_suffix", 22)
}

// methods are the payment methods that a session may name.
func methods() []string {
	return []string{"acss_debit", "au_becs_debit", "bacs_debit", "card", "link", "sepa_debit", "us_bank_account"}
}

func (n *newSession) readMethods(p scope) {
	seen := map[string]bool{}
	for _, m := range p.texts("payment_method_types") {
		if !slices.Contains(methods(), m) || seen[m] {
			p.refuse("payment_method_types", "", "Invalid or repeated payment method type: %q; the payment simulator knows %s.",
				m, strings.Join(methods(), ", "))
		}
		seen[m] = true
		n.paymentMethodTypes = append(n.paymentMethodTypes, m)
	}
	if len(n.paymentMethodTypes) == 0 {
		n.paymentMethodTypes = []string{"card"}
	}
}

// maxItems is how many line items one session may have.
const maxItems = 100

func (n *newSession) readItems(p scope) {
	items := p.list("line_items")
	if len(items) == 0 || len(items) > maxItems {
		p.refuse("line_items", "parameter_missing", "Missing required param: line_items, 1 to %d of them.", maxItems)
		return
	}
	for _, at := range items {
		item := readItem(at)
		if len(n.items) > 0 && item.Currency != n.currency.Code {
			at.refuse("price_data", "", "All line items must have one currency; one has %s, one %s.", n.currency.Code, item.Currency)
		}
		n.currency, _ = money.Lookup(item.Currency)
		n.items = append(n.items, item)
		n.amount = sum(n.amount, item)
	}
	if c := p.text("currency"); p.has("currency") && !strings.EqualFold(c, n.currency.Code) {
		p.refuse("currency", "", "The line items are in %s, not %s.", n.currency.Code, c)
	}
	n.checkAmount(p)
}

func readItem(at scope) lineItem {
	at.only("price_data", "quantity")
	price := at.in("price_data")
	price.only("currency", "product_data", "unit_amount")
	product := price.in("product_data")
	product.only("description", "name")
	if !at.has("price_data") {
		at.required("price_data")
	}
	code := price.required("currency")
	currency, ok := money.Lookup(code)
	if !ok {
		price.refuse("currency", "", "Invalid currency: %s. The payment simulator knows %s.", code, strings.Join(money.Codes(), ", "))
	}
	item := lineItem{
		ID: newID("li_"), Currency: currency.Code, Name: product.required("name"),
		UnitAmount: price.between("unit_amount", 0, 999_999_999_999), Quantity: at.between("quantity", 1, 999_999_999),
	}
	if d := product.optional("description", 40_000); d != nil {
		item.Description = *d
	}
	product.optional("name", 5000)
	return item
}

// sum adds an item's total, and stays at the largest number where it does not
// fit: that is above every limit.
func sum(amount int64, item lineItem) int64 {
	if item.Quantity > 0 && item.UnitAmount > (math.MaxInt64-amount)/item.Quantity {
		return math.MaxInt64
	}
	return amount + item.total()
}

func (n *newSession) checkAmount(p scope) {
	c := n.currency
	switch {
	case *p.err != nil: // then the currency may be none
	case n.amount < c.Min:
		p.refuse("line_items", "amount_too_small", "The total of the Checkout Session must be at least %s.", c.Of(c.Min))
	case n.amount > c.Max:
		p.refuse("line_items", "amount_too_large", "The total of the Checkout Session must be no more than %s.", c.Of(c.Max))
	case !c.Chargeable(n.amount):
		p.refuse("line_items", "", "Amounts in %s must be a multiple of %d.", c.Code, c.Step)
	}
}
