package market

import (
	"context"
	"fmt"
	"time"
)

// sqlCounters compares the counters of today and of the time to come with what
// the ledger says. One statement sees one instant.
const sqlCounters = `
	WITH due AS MATERIALIZED (
		SELECT effective_at AS at, CASE kind WHEN 'slot.taken' THEN 1 ELSE -1 END AS n, w * h AS blocks FROM ledger
		WHERE kind IN ('slot.taken', 'slot.returned') AND effective_at >= date_trunc('day', now(), 'UTC')
	), should AS (
		SELECT 'review.images' AS metric, date_trunc('hour', at, 'UTC') AS bucket, sum(n)::bigint AS used FROM due GROUP BY 2
		UNION ALL
		SELECT 'launch.pixels', date_trunc('day', at, 'UTC'), sum(n * blocks)::bigint * 100 FROM due GROUP BY 2
	), counted AS (
		SELECT metric, bucket, used FROM capacity_counters
		WHERE metric IN ('review.images', 'launch.pixels') AND bucket >= date_trunc('day', now(), 'UTC')
	)
	SELECT COALESCE(c.metric, s.metric), COALESCE(c.bucket, s.bucket), COALESCE(c.used, 0), COALESCE(s.used, 0)
	FROM counted c FULL JOIN should s ON s.metric = c.metric AND s.bucket = c.bucket
	WHERE COALESCE(c.used, 0) <> COALESCE(s.used, 0) ORDER BY 1, 2 LIMIT 100`

type counterSum struct {
	Metric          string
	Bucket          time.Time
	Counted, Should int64
}

// counters compares what the limits of capacity count with the ledger. What
// differs is a fault and is never mended by itself.
func (p *pass) counters(ctx context.Context) error {
	cs, err := list[counterSum](ctx, p.pool, sqlCounters)
	if err != nil {
		return err
	}
	for _, c := range cs {
		at := c.Bucket.UTC().Format(time.RFC3339)
		f := found{kind: findCounter, fact: fmt.Sprintf("%s:%s:%s", findCounter, c.Metric, at), done: "an admin was told"}
		if err := p.note(ctx, f); err != nil {
			return err
		}
		err := again(ctx, p.pool, Anomaly{
			Kind: f.kind, Fact: f.fact, Message: fmt.Sprintf("Of %s at %s are counted %d; the ledger says %d.", c.Metric, at, c.Counted, c.Should),
			Action: "Nothing was changed. Keep a copy of the database and look for what wrote this; run tuval check for the whole picture.",
		})
		if err != nil {
			return err
		}
	}
	return nil
}
