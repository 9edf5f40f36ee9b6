-- +goose Up

-- The deadlines of what is paid, in one index; those of unpaid holds have one.
-- Queries repeat the expression as it stands here.
CREATE INDEX rentals_moving ON rentals
    ((CASE state WHEN 'paid' THEN COALESCE(live_from, approve_by) WHEN 'live' THEN ends_at ELSE leased_until END), id)
    WHERE state IN ('paid', 'live', 'ended');

-- For the sum of a payment's money.
CREATE INDEX ledger_payment ON ledger (payment_id) WHERE payment_id IS NOT NULL;

-- Each comparison of what should be with what is.
CREATE TABLE reconciliations (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    by         text        NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at   timestamptz,
    tallies    jsonb       NOT NULL DEFAULT '[]',
    trouble    text        NOT NULL DEFAULT '' -- what could not be looked at
);
CREATE INDEX reconciliations_age ON reconciliations (started_at);
CREATE INDEX reconciliations_ended ON reconciliations (ended_at) WHERE trouble = '';

-- What was found, each fact once. A fact that is not found any more is over;
-- found again later, it begins anew. The ids have no foreign keys: that
-- something is not there may be what was found.
CREATE TABLE findings (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fact        text        NOT NULL UNIQUE,
    kind        text        NOT NULL,
    claim_id    bigint,
    payment_id  bigint,
    refund_id   bigint,
    first_seen  timestamptz NOT NULL DEFAULT now(),
    last_seen   timestamptz NOT NULL DEFAULT now(),
    times       integer     NOT NULL DEFAULT 1, -- in how many passes in a row
    pass        bigint      NOT NULL,           -- the last one that found it
    done        text        NOT NULL DEFAULT '',
    repaired_at timestamptz,
    over_at     timestamptz
);
CREATE INDEX findings_open ON findings (kind, id) WHERE over_at IS NULL;
CREATE INDEX findings_seen ON findings (last_seen, id);

-- How far the last pass has read: Stripe's events by Stripe's clock, the
-- ledger by transaction and row.
CREATE TABLE reconcile_position (
    one         boolean     PRIMARY KEY DEFAULT true CHECK (one),
    events_read timestamptz, -- null: never
    ledger_xid  xid8        NOT NULL DEFAULT '0',
    ledger_id   bigint      NOT NULL DEFAULT 0
);
INSERT INTO reconcile_position DEFAULT VALUES;

-- When a server was last there.
CREATE TABLE heartbeat (
    one     boolean     PRIMARY KEY DEFAULT true CHECK (one),
    beat_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 20);
INSERT INTO heartbeat DEFAULT VALUES;

-- +goose Down
DROP TABLE heartbeat, reconcile_position, findings, reconciliations;
DROP INDEX ledger_payment, rentals_moving;
