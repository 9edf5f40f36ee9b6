package stripesim

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"net/http"
	"strings"
	"time"

	"tuval/internal/money"
)

// payPath is where the pay page of a session is, as at Stripe.
const payPath = "/c/pay/"

//go:embed page.html page.css
var pageFiles embed.FS

// payPage is the hosted pay page: plain HTML, forms and links, no scripts.
type payPage struct {
	sim  *Sim
	tmpl *template.Template
	css  []byte
}

func (s *Sim) routePage(mux *http.ServeMux) {
	css, err := pageFiles.ReadFile("page.css")
	if err != nil {
		panic(err) // it is part of the binary
	}
	p := payPage{sim: s, tmpl: template.Must(template.ParseFS(pageFiles, "page.html")), css: css}
	mux.HandleFunc("GET /c/pay/{id}", p.show)
	mux.HandleFunc("POST /c/pay/{id}", p.press)
	mux.HandleFunc("GET /c/pay.css", p.style)
}

// view is what the page shows; texts are ready to be read.
type view struct {
	Title, Amount, Reference, Until, UntilMachine string
	Items                                         []viewItem
	State                                         string // open, paid, pending, failed, expired, missing
	Decline                                       string
	Done, Back                                    string // addresses at the shop; Back may be empty
}

type viewItem struct{ Name, Description, Amount string }

func (p payPage) show(w http.ResponseWriter, r *http.Request) {
	found, err := findSession(r.Context(), p.sim.o.Pool, r.PathValue("id"), p.sim.base(r))
	if err != nil {
		p.trouble(w, asError(err))
		return
	}
	state, err := p.state(r.Context(), found)
	if err != nil {
		p.trouble(w, asError(err))
		return
	}
	p.render(w, http.StatusOK, viewOf(found, state))
}

// state is what the page says; a session without money may still get it.
func (p payPage) state(ctx context.Context, s *Session) (string, error) {
	if s.Status != statusComplete {
		return s.Status, nil
	}
	if s.PaymentStatus == "paid" {
		return "paid", nil
	}
	intent, err := findIntent(ctx, p.sim.o.Pool, s.PaymentIntent.ID)
	if err != nil {
		return "", err
	}
	if intent.Status == "processing" {
		return "pending", nil
	}
	return "failed", nil
}

func viewOf(s *Session, state string) view {
	until := time.Unix(s.ExpiresAt, 0).UTC()
	total := money.Money{Amount: s.AmountTotal, Currency: s.Currency}.String()
	v := view{
		Title: titles()[state], Amount: total, State: state, Done: s.returnTo(s.SuccessURL),
		Until: until.Format("15:04:05 UTC, 2 January 2006"), UntilMachine: until.Format(time.RFC3339),
	}
	if s.CancelURL != nil {
		v.Back = s.returnTo(*s.CancelURL)
	}
	if s.ClientReferenceID != nil {
		v.Reference = *s.ClientReferenceID
	}
	if s.DeclineMessage != nil && state == statusOpen {
		v.Decline = *s.DeclineMessage
	}
	for _, item := range s.Items {
		amount := money.Money{Amount: item.total(), Currency: item.Currency}.String()
		v.Items = append(v.Items, viewItem{item.Name, item.Description, amount})
	}
	return v
}

func titles() map[string]string {
	return map[string]string{
		"open": "Pay", "paid": "This session is paid", "pending": "The bank debit is on its way", "failed": "The bank debit failed",
		"expired": "This session is over", "missing": "There is no such session",
	}
}

// returnTo puts the session's id into an address of the shop.
func (s *Session) returnTo(address string) string {
	return strings.ReplaceAll(address, sessionPlaceholder, s.ID)
}

// press is a button of the page.
func (p payPage) press(w http.ResponseWriter, r *http.Request) {
	ctx := context.WithoutCancel(r.Context()) // what has been pressed happens
	f, err := takeFaultOf(ctx, p.sim.o.Pool, r.Pattern, "", callFaults()...)
	if err != nil {
		p.trouble(w, asError(err))
		return
	}
	c := &call{fault: f}
	c.pause()
	switch f.Kind {
	case FaultServerError, FaultUnavailable:
		p.trouble(w, f.refusal())
		return
	case FaultDropBefore:
		panic(http.ErrAbortHandler)
	}
	to, events, err := p.do(ctx, r)
	switch f.Kind {
	case FaultDropAfter:
		panic(http.ErrAbortHandler)
	case FaultErrorAfter:
		err = trouble(http.StatusInternalServerError)
	case FaultWebhookFirst:
		p.sim.awaitFirstAttempts(ctx, events)
	}
	if err != nil {
		p.trouble(w, asError(err))
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// do acts and says where to go. When the session is past the button, it is
// the page that says so, or the shop if the money is there.
func (p payPage) do(ctx context.Context, r *http.Request) (to string, events []string, err error) {
	id := r.PathValue("id")
	var after *Session
	events, err = p.sim.inWork(ctx, "pay page", origin{base: p.sim.base(r)}, func(ctx context.Context, w *work) error {
		after, err = w.press(ctx, id, r.PostFormValue("action"))
		return err
	})
	if e := asError(err); err != nil && e.Status != http.StatusConflict {
		return "", nil, err
	}
	if err != nil {
		if after, err = findSession(ctx, p.sim.o.Pool, id, ""); err != nil {
			return "", nil, err
		}
	}
	switch pressed := r.PostFormValue("action"); {
	case after.Status == statusComplete && (pressed == "pay" || pressed == "pay_late" || pressed == "debit"):
		return after.returnTo(after.SuccessURL), events, nil
	case pressed == "abandon" && after.CancelURL != nil:
		return after.returnTo(*after.CancelURL), events, nil
	}
	return payPath + id, events, nil
}

func (w *work) press(ctx context.Context, id, action string) (*Session, error) {
	message := "The bank did not make the payment."
	switch action {
	case "pay":
		return w.pay(ctx, id, Payment{})
	case "pay_late":
		return w.pay(ctx, id, Payment{Late: true})
	case "debit":
		return w.pay(ctx, id, Payment{Pending: true})
	case "decline":
		return w.decline(ctx, id)
	case "debit_arrives":
		return w.settle(ctx, id, attempt{intent: "succeeded", charge: "succeeded"})
	case "debit_fails":
		return w.settle(ctx, id, attempt{intent: "requires_payment_method", charge: "failed", message: &message})
	case "abandon":
		return findSession(ctx, w.tx, id, w.origin.base)
	}
	return nil, invalid("action", "", "There is no such button.")
}

func (p payPage) trouble(w http.ResponseWriter, e *Error) {
	v := view{Title: "The payment simulator has a problem", State: "trouble", Decline: e.Message}
	if e.Status == http.StatusNotFound {
		v = view{Title: titles()["missing"], State: "missing"}
	}
	p.render(w, e.Status, v)
}

// render writes the page. There is no form-action in its policy: the answer
// to a button leads to the shop, whatever its address.
func (p payPage) render(w http.ResponseWriter, status int, v view) {
	var b bytes.Buffer
	if err := p.tmpl.Execute(&b, v); err != nil {
		p.sim.o.Logger.Error("stripesim: pay page", "error", err)
		http.Error(w, "The pay page could not be shown.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

func (p payPage) style(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "max-age=60")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(p.css)
}
