package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"tuval/internal/fault"
	"tuval/internal/ident"
	"tuval/internal/telemetry"
	"tuval/web/reply"
)

// observed is the outermost of all: it names the request, answers for a panic,
// and writes down how the request ended, once. Neither the path nor the query
// is written down, for they may carry tokens, and no address.
func (s *site) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		ctx, facts := reply.Begin(r.Context(), ident.New())
		ctx = telemetry.With(ctx, slog.String("request", facts.ID))
		r = r.WithContext(ctx)
		rec := &recorder{ResponseWriter: w}
		rec.Header().Set("X-Request-Id", facts.ID)
		defer func() {
			took := time.Since(begun)
			s.Metrics.Request(facts.Route, r.Method, rec.code(), took)
			s.write(ctx, r, rec, facts, took)
		}()
		defer s.recovered(rec, r, facts)
		next.ServeHTTP(rec, r)
	})
}

// recovered turns a panic into an answer, if none has begun.
func (s *site) recovered(rec *recorder, r *http.Request, facts *reply.Facts) {
	p := recover()
	switch {
	case p == nil:
		return
	case p == http.ErrAbortHandler:
		panic(p)
	}
	err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	if rec.status != 0 {
		facts.Err = err
		return
	}
	s.refuse(rec, r, err)
}

func (s *site) write(ctx context.Context, r *http.Request, rec *recorder, facts *reply.Facts, took time.Duration) {
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("route", facts.Route), slog.Int("status", rec.code()),
		slog.Int64("bytes", rec.bytes), slog.Duration("took", took),
	}
	level := slog.LevelInfo
	if facts.Err != nil {
		attrs = append(attrs, slog.String("refused", facts.Err.Error()))
		if rec.code() >= http.StatusInternalServerError && !gone(ctx, facts.Err) {
			level = slog.LevelError
		}
	}
	s.Log.LogAttrs(ctx, level, "request", attrs...)
}

// gone reports whether the client left before it was answered, or whether
// being busy is all that went wrong: neither needs anybody's eye.
func gone(ctx context.Context, err error) bool {
	return ctx.Err() != nil || fault.As(err).Kind == fault.Unavailable || errors.Is(err, context.Canceled)
}

// recorder remembers how a request was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= 200 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController through.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) code() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}
