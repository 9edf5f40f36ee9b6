-- +goose Up

-- A reminder is worth nothing after what it reminds of: from stale_at on it is
-- dropped instead of sent. Refused mails are dropped too, until somebody has
-- the server try them again.
ALTER TABLE mails
    ADD COLUMN stale_at    timestamptz,
    ADD COLUMN dropped_at  timestamptz,
    ADD COLUMN dropped_why text NOT NULL DEFAULT '' CHECK (dropped_why IN ('', 'stale', 'refused')),
    ADD CONSTRAINT mails_dropped_why CHECK ((dropped_at IS NULL) = (dropped_why = '')),
    ADD CONSTRAINT mails_one_end CHECK (sent_at IS NULL OR dropped_at IS NULL);

DROP INDEX mails_unsent;
CREATE INDEX mails_waiting ON mails (id) WHERE sent_at IS NULL AND dropped_at IS NULL;

-- +goose Down
DROP INDEX mails_waiting;
CREATE INDEX mails_unsent ON mails (id) WHERE sent_at IS NULL;
ALTER TABLE mails
    DROP CONSTRAINT mails_one_end, DROP CONSTRAINT mails_dropped_why,
    DROP COLUMN stale_at, DROP COLUMN dropped_at, DROP COLUMN dropped_why;
