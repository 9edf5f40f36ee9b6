package stripesim

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
)

// page says which part of a list is wanted, newest first.
type page struct {
	limit         int64
	after, before string // ids; older than after, newer than before
}

func readPage(p scope) page {
	pg := page{limit: 10, after: p.text("starting_after"), before: p.text("ending_before")}
	if p.has("limit") {
		pg.limit = p.between("limit", 1, 100)
	}
	if pg.after != "" && pg.before != "" {
		p.refuse("ending_before", "", "Pass either starting_after or ending_before, not both.")
	}
	return pg
}

// createdRange is the filter created, or created[gt], [gte], [lt], [lte], in
// unix seconds; nil is no bound. Both ends are made inclusive.
type createdRange struct{ from, to *int64 }

// latest is the last second of the year 9999; a later one is a mistake.
const latest = 253402300799

func readCreated(p scope) createdRange {
	var r createdRange
	if n := p.n.fields["created"]; n != nil && n.leaf {
		v := p.between("created", 0, latest)
		r.from, r.to = &v, &v
		return r
	}
	in := p.in("created")
	in.only("gt", "gte", "lt", "lte")
	bound := func(field string, shift int64, end **int64) {
		if in.has(field) {
			v := in.between(field, 0, latest) + shift
			*end = &v
		}
	}
	bound("gte", 0, &r.from)
	bound("gt", 1, &r.from)
	bound("lte", 0, &r.to)
	bound("lt", -1, &r.to)
	return r
}

const createdFilter = `(@created_from::bigint IS NULL OR created >= to_timestamp(@created_from::bigint))
	AND (@created_to::bigint IS NULL OR created < to_timestamp(@created_to::bigint + 1))`

func (r createdRange) args(more pgx.StrictNamedArgs) pgx.StrictNamedArgs {
	more["created_from"], more["created_to"] = r.from, r.to
	return more
}

// listing is one question to a table with columns id and seq. table, columns
// and where are constants of this package, never input.
type listing struct {
	what, table, columns, where string
	page                        page
	args                        pgx.StrictNamedArgs
}

// list reads one page, newest first, and whether there is more in the
// direction of reading.
func list[T any](ctx context.Context, q db.Querier, l listing) ([]*T, bool, error) {
	cursor, older := l.page.after, true
	if l.page.before != "" {
		cursor, older = l.page.before, false
	}
	seq, err := l.position(ctx, q, cursor)
	if err != nil {
		return nil, false, err
	}
	order, side := "DESC", "seq < @seq"
	if !older {
		order, side = "ASC", "seq > @seq"
	}
	sql := fmt.Sprintf(`SELECT %s FROM %s t WHERE (@seq::bigint IS NULL OR %s) AND %s ORDER BY seq %s LIMIT @limit`,
		l.columns, l.table, side, l.where, order)
	l.args["seq"], l.args["limit"] = seq, l.page.limit+1
	rows, err := many[T](ctx, q, sql, l.args)
	if err != nil {
		return nil, false, err
	}
	more := int64(len(rows)) > l.page.limit
	if more {
		rows = rows[:l.page.limit]
	}
	if !older {
		slices.Reverse(rows)
	}
	return rows, more, nil
}

// position is the number of the cursor's row; nil without a cursor.
func (l listing) position(ctx context.Context, q db.Querier, cursor string) (*int64, error) {
	if cursor == "" {
		return nil, nil
	}
	type row struct{ Seq int64 }
	r, err := one[row](ctx, q, `SELECT seq FROM `+l.table+` WHERE id = @id`, pgx.StrictNamedArgs{"id": cursor})
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, missing(l.what, cursor, "starting_after")
	}
	return &r.Seq, nil
}

// listOf wraps a page for the answer; show completes each object.
func listOf[T any](url string, more bool, rows []*T, show func(*T) (any, error)) (List, error) {
	l := List{Object: "list", URL: url, HasMore: more, Data: []any{}}
	for _, row := range rows {
		shown, err := show(row)
		if err != nil {
			return List{}, err
		}
		l.Data = append(l.Data, shown)
	}
	return l, nil
}
