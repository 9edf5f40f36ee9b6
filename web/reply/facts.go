package reply

import "context"

// Facts are what the site wants to know of a request when it has been
// answered. One goroutine uses them: the one that answers.
type Facts struct {
	ID    string // to be quoted by people, X-Request-Id
	Err   error  // why it was refused, for the log
	Route string // the pattern that matched
}

type factsKey struct{}

// Begin puts new facts into the context.
func Begin(ctx context.Context, id string) (context.Context, *Facts) {
	f := &Facts{ID: id}
	return context.WithValue(ctx, factsKey{}, f), f
}

// FactsOf returns the facts of a request; outside of one, facts that nobody
// reads.
func FactsOf(ctx context.Context) *Facts {
	if f, ok := ctx.Value(factsKey{}).(*Facts); ok {
		return f
	}
	return &Facts{}
}

// RequestID is the id of a request, or empty.
func RequestID(ctx context.Context) string { return FactsOf(ctx).ID }
