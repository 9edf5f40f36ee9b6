package telemetry

import (
	"context"
	"io"
	"log/slog"
	"slices"
)

// Logger writes lines as "text" or "json", from the given level on (debug,
// info, warn, error; info when unknown).
func Logger(w io.Writer, format, level string) *slog.Logger {
	var least slog.Level
	_ = least.UnmarshalText([]byte(level)) // leaves info
	options := &slog.HandlerOptions{Level: least, ReplaceAttr: newScrubber().attr}
	if format == "json" {
		return slog.New(handler{slog.NewJSONHandler(w, options)})
	}
	return slog.New(handler{slog.NewTextHandler(w, options)})
}

type factsKey struct{}

// With adds facts to every line that is logged with the returned context or
// one made from it. A fact replaces an earlier one of the same name.
func With(ctx context.Context, facts ...slog.Attr) context.Context {
	earlier := factsOf(ctx)
	all := make([]slog.Attr, 0, len(earlier)+len(facts))
	for _, a := range earlier {
		if !slices.ContainsFunc(facts, func(b slog.Attr) bool { return a.Key == b.Key }) {
			all = append(all, a)
		}
	}
	return context.WithValue(ctx, factsKey{}, append(all, facts...))
}

func factsOf(ctx context.Context) []slog.Attr {
	facts, _ := ctx.Value(factsKey{}).([]slog.Attr)
	return facts
}

// handler adds the facts of the context to each line.
type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if facts := factsOf(ctx); len(facts) > 0 {
		r = r.Clone()
		r.AddAttrs(facts...)
	}
	return h.Handler.Handle(ctx, r)
}

func (h handler) WithAttrs(as []slog.Attr) slog.Handler { return handler{h.Handler.WithAttrs(as)} }

func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
