package stripesim

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// routeControls are what a test, or a person with curl, does to the simulator
// from another process: the Go API again, in JSON. Errors are those of the
// API; 409 means that the object is past that.
func (s *Sim) routeControls(mux *http.ServeMux) {
	mux.Handle("POST /sim/sessions/{id}/{action}", control(s.controlSession))
	mux.Handle("POST /sim/refunds", control(func(r *http.Request) (any, error) {
		want, err := body[RefundRequest](r)
		if err != nil {
			return nil, err
		}
		return s.DashboardRefund(r.Context(), want)
	}))
	mux.Handle("POST /sim/refunds/{id}/{action}", control(s.controlRefund))
	mux.Handle("POST /sim/disputes", control(func(r *http.Request) (any, error) {
		want, err := body[DisputeRequest](r)
		if err != nil {
			return nil, err
		}
		return s.OpenDispute(r.Context(), want)
	}))
	mux.Handle("POST /sim/disputes/{id}/close", control(s.controlDispute))
	mux.Handle("GET /sim/faults", control(func(r *http.Request) (any, error) {
		faults, err := s.Faults(r.Context())
		return map[string]any{"faults": faults}, err
	}))
	mux.Handle("POST /sim/faults", control(s.controlFault))
	mux.Handle("DELETE /sim/faults", control(func(r *http.Request) (any, error) { return done(s.ClearFaults(r.Context())) }))
	mux.Handle("GET /sim/webhooks", control(s.controlWebhooks))
	mux.Handle("POST /sim/webhooks/release", control(s.controlRelease))
	mux.Handle("POST /sim/events/{id}/resend", control(s.controlResend))
	mux.Handle("GET /sim/requests", control(s.controlRequests))
	mux.Handle("DELETE /sim/requests", control(func(r *http.Request) (any, error) { return done(s.ForgetRequests(r.Context())) }))
}

func (s *Sim) controlSession(r *http.Request) (any, error) {
	opts, err := body[struct {
		Amount   int64  `json:"amount"`
		Currency string `json:"currency"`
		Email    string `json:"email"`
	}](r)
	if err != nil {
		return nil, err
	}
	how := Payment{Amount: opts.Amount, Currency: opts.Currency, Email: opts.Email}
	o := origin{base: s.base(r)}
	switch id := r.PathValue("id"); r.PathValue("action") {
	case "pay":
		return s.pay(r.Context(), id, how, o)
	case "pay_late":
		how.Late = true
		return s.pay(r.Context(), id, how, o)
	case "complete_unpaid":
		how.Pending = true
		return s.pay(r.Context(), id, how, o)
	case "decline":
		return s.decline(r.Context(), id, o)
	case "async_succeed":
		return s.AsyncSucceed(r.Context(), id)
	case "async_fail":
		return s.AsyncFail(r.Context(), id)
	case "expire":
		return s.Expire(r.Context(), id)
	}
	return nil, noControl(r)
}

func (s *Sim) controlRefund(r *http.Request) (any, error) {
	opts, err := body[struct {
		Reason string `json:"reason"`
	}](r)
	if err != nil {
		return nil, err
	}
	switch id := r.PathValue("id"); r.PathValue("action") {
	case "fail":
		return s.FailRefund(r.Context(), id, opts.Reason)
	case "succeed":
		return s.SucceedRefund(r.Context(), id)
	}
	return nil, noControl(r)
}

func (s *Sim) controlDispute(r *http.Request) (any, error) {
	opts, err := body[struct {
		Won bool `json:"won"`
	}](r)
	if err != nil {
		return nil, err
	}
	return s.CloseDispute(r.Context(), r.PathValue("id"), opts.Won)
}

func (s *Sim) controlFault(r *http.Request) (any, error) {
	f, err := body[Fault](r)
	if err != nil {
		return nil, err
	}
	f.ID, err = s.AddFault(r.Context(), f)
	return f, err
}

func (s *Sim) controlWebhooks(r *http.Request) (any, error) {
	all, err := s.Webhooks(r.Context())
	if err != nil {
		return nil, err
	}
	waiting, held := 0, 0
	for _, w := range all {
		switch {
		case w.Held:
			held++
		case w.DeliveredAt == nil:
			waiting++
		}
	}
	return map[string]any{"waiting": waiting, "held": held, "webhooks": all}, nil
}

func (s *Sim) controlRelease(r *http.Request) (any, error) {
	opts, err := body[struct {
		Order Order `json:"order"`
	}](r)
	if err != nil {
		return nil, err
	}
	return done(s.ReleaseWebhooks(r.Context(), opts.Order))
}

func (s *Sim) controlResend(r *http.Request) (any, error) {
	opts, err := body[struct {
		Copies int `json:"copies"`
	}](r)
	if err != nil {
		return nil, err
	}
	return done(s.Resend(r.Context(), r.PathValue("id"), max(opts.Copies, 1)))
}

// controlRequests is the journal: all calls, or those with ?endpoint=, and
// how many each endpoint has had.
func (s *Sim) controlRequests(r *http.Request) (any, error) {
	all, err := s.Requests(r.Context(), printable(r.URL.Query().Get("endpoint")))
	if err != nil {
		return nil, err
	}
	counts, err := s.Counts(r.Context())
	return map[string]any{"counts": counts, "requests": all}, err
}

func done(err error) (any, error) { return map[string]any{"ok": true}, err }

func noControl(r *http.Request) *Error {
	e := invalid("action", "", "There is no control %q.", r.PathValue("action"))
	e.Status = http.StatusNotFound
	return e
}

// control answers with JSON. Like the API it finishes what it has begun.
func control(do func(r *http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(context.WithoutCancel(r.Context()))
		v, err := do(r)
		rep := replyWith(http.StatusOK, v)
		if err != nil {
			rep = replyError(asError(err))
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(rep.status)
		_, _ = w.Write(rep.body)
	})
}

// body reads JSON with known fields only; an empty body is all defaults.
func body[T any](r *http.Request) (T, error) {
	var v T
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil && !errors.Is(err, io.EOF) {
		return v, invalid("", "", "Invalid JSON: %v", err)
	}
	return v, nil
}
