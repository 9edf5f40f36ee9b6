-- +goose Up

-- Which orders count in the limits of capacity, and when: one row an order and
-- due time. What is given back is taken out again; the ledger tells of both.
CREATE TABLE capacity_entries (
    id        bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rental_id bigint      NOT NULL REFERENCES rentals,
    due       timestamptz NOT NULL,
    blocks    integer     NOT NULL CHECK (blocks > 0),
    UNIQUE (rental_id, due) DEFERRABLE INITIALLY IMMEDIATE
);

-- What the entries come to in each window of each hard limit. A limit is kept
-- by one conditional write to a row of these.
CREATE TABLE capacity_counters (
    metric text        NOT NULL,
    bucket timestamptz NOT NULL,
    used   bigint      NOT NULL CHECK (used >= 0),
    PRIMARY KEY (metric, bucket)
) WITH (fillfactor = 50);

-- The models in memory are loaded by these, however long the history is.
CREATE INDEX ledger_slots ON ledger (effective_at) WHERE kind IN ('slot.taken', 'slot.returned');
CREATE INDEX ledger_starts ON ledger (recorded_at) WHERE kind = 'checkout.begun';

-- Orders that chose their time before there were limits count as well.
INSERT INTO capacity_entries (rental_id, due, blocks)
SELECT id, go_live_at, w * h FROM rentals WHERE state <> 'closed' AND go_live_at > now() ORDER BY id;

INSERT INTO ledger (kind, effective_at, claim_id, x, y, w, h, currency, actor)
SELECT 'slot.taken', e.due, r.id, r.x, r.y, r.w, r.h, r.currency, 'system'
FROM capacity_entries e JOIN rentals r ON r.id = e.rental_id ORDER BY e.id;

INSERT INTO capacity_counters (metric, bucket, used)
SELECT 'review.images', date_trunc('hour', due, 'UTC'), count(*) FROM capacity_entries GROUP BY 2
UNION ALL
SELECT 'launch.pixels', date_trunc('day', due, 'UTC'), sum(blocks) * 100 FROM capacity_entries GROUP BY 2;

-- +goose Down
DROP INDEX ledger_starts;
DROP INDEX ledger_slots;
DROP TABLE capacity_counters;
DROP TABLE capacity_entries;
