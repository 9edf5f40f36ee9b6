package reply

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/a-h/templ"

	"tuval/internal/fault"
	"tuval/views"
)

const html = "text/html; charset=utf-8"

// HTMX reports whether scripts of our pages asked and want a fragment.
func HTMX(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" }

// HTML answers with a component, a whole page or a fragment.
func HTML(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	var body bytes.Buffer
	// Whoever asked may be gone already: that is no failure of the page.
	if err := c.Render(context.WithoutCancel(r.Context()), &body); err != nil {
		FactsOf(r.Context()).Err = fmt.Errorf("render: %w", err)
		write(w, http.StatusInternalServerError, "text/plain; charset=utf-8", []byte(lastResort(r)))
		return
	}
	w.Header().Add("Vary", "HX-Request")
	write(w, status, html, body.Bytes())
}

// lastResort is said when not even the page of a refusal can be made.
func lastResort(r *http.Request) string {
	return "Something went wrong on our side. Request " + RequestID(r.Context()) + "\n"
}

// Found sends the browser to look at a page, after a form was carried out.
// htmx cannot follow a redirect to another origin, so it is told to go there.
func Found(w http.ResponseWriter, r *http.Request, address string) {
	w.Header().Add("Vary", "HX-Request")
	w.Header().Set("Cache-Control", "no-store")
	if HTMX(r) {
		w.Header().Set("HX-Redirect", address)
		w.WriteHeader(http.StatusOK)
		return
	}
	w.Header().Set("Location", address)
	w.WriteHeader(http.StatusSeeOther)
}

// Note prepares an answer that shows a refusal in a page or fragment of its
// own: it sets the headers, remembers err for the log and returns the refusal
// with its status.
func Note(w http.ResponseWriter, r *http.Request, err error) (*fault.Error, int) {
	f := refuse(w, r, err)
	return f, Status(f.Kind)
}

// Page answers with the page of a refusal, or with its body alone for htmx.
// view adds to the words: its zero value is filled in from err.
func Page(w http.ResponseWriter, r *http.Request, base views.Page, view views.FaultView, err error) {
	f := refuse(w, r, err)
	view.Status = Status(f.Kind)
	if view.Text == "" {
		view.Text = f.Msg
	}
	if f.Kind == fault.Internal || f.Kind == fault.Unavailable {
		view.RequestID = RequestID(r.Context())
	}
	view.Retry = In(f.RetryAfter)
	if HTMX(r) {
		HTML(w, r, view.Status, views.FaultBody(view))
		return
	}
	HTML(w, r, view.Status, views.Fault(views.FaultPage{Page: base, Fault: view}))
}

// Bytes answers with a finished file, or with 304 for who has the one of that
// tag already. The caller says how long it may be kept.
func Bytes(w http.ResponseWriter, r *http.Request, etag, kind string, body []byte) {
	w.Header().Set("ETag", etag)
	w.Header().Set("Content-Type", kind)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
