package app

import (
	"context"
	"log/slog"
)

// backstage is the log of parts that go on for themselves until they are told
// to stop. What they say after that is no news.
type backstage struct{ slog.Handler }

// Handle passes a record on as long as its work is wanted.
func (b backstage) Handle(ctx context.Context, r slog.Record) error {
	if ctx.Err() != nil {
		return nil
	}
	return b.Handler.Handle(ctx, r)
}

// WithAttrs keeps the rule.
func (b backstage) WithAttrs(attrs []slog.Attr) slog.Handler {
	return backstage{b.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the rule.
func (b backstage) WithGroup(name string) slog.Handler {
	return backstage{b.Handler.WithGroup(name)}
}
