-- +goose Up

-- When a payment had gone back in full: its weeks do not count from then on,
-- whatever becomes of the refund.
ALTER TABLE payments ADD COLUMN unwound_at timestamptz;

-- Money that a payer's bank took back, by Stripe's id of the dispute. An
-- inquiry moves no money.
CREATE TABLE disputes (
    id         text        PRIMARY KEY,
    payment_id bigint      NOT NULL REFERENCES payments,
    amount     bigint      NOT NULL CHECK (amount >= 0),
    currency   text        NOT NULL,
    state      text        NOT NULL CHECK (state IN ('open', 'won', 'lost')),
    reason     text        NOT NULL,
    opened_at  timestamptz NOT NULL DEFAULT now(),
    closed_at  timestamptz
);
CREATE INDEX disputes_payment ON disputes (payment_id);
CREATE TRIGGER disputes_stay BEFORE DELETE OR TRUNCATE ON disputes FOR EACH STATEMENT EXECUTE FUNCTION forbid();

-- What a button can do about an anomaly, and what was done.
ALTER TABLE anomalies
    ADD COLUMN remedy      text NOT NULL DEFAULT '' CHECK (remedy IN ('', 'retry job', 'refund again')),
    ADD COLUMN job_id      bigint,
    ADD COLUMN done        text NOT NULL DEFAULT '',
    ADD COLUMN resolved_by text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE anomalies DROP COLUMN remedy, DROP COLUMN job_id, DROP COLUMN done, DROP COLUMN resolved_by;
DROP TABLE disputes;
ALTER TABLE payments DROP COLUMN unwound_at;
