-- +goose Up

-- One domain of ids for everything that can possess blocks: rentals and
-- blocked areas.
CREATE SEQUENCE claim_ids;

-- Room is left in every page and no column that changes is indexed, so that
-- an update stays in its page (HOT) and the table stays small under a rush.
CREATE TABLE blocks (
    y            smallint    NOT NULL CHECK (y BETWEEN 0 AND 99),
    x            smallint    NOT NULL CHECK (x BETWEEN 0 AND 99),
    claim_id     bigint,
    leased_until timestamptz NOT NULL DEFAULT 'epoch',
    PRIMARY KEY (y, x)
) WITH (fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);

INSERT INTO blocks (y, x)
SELECT y, x FROM generate_series(0, 99) AS y, generate_series(0, 99) AS x ORDER BY y, x;

-- +goose StatementBegin
CREATE FUNCTION forbid() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is not allowed', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
-- +goose StatementEnd

CREATE TRIGGER blocks_are_fixed BEFORE INSERT OR DELETE OR TRUNCATE ON blocks
    FOR EACH STATEMENT EXECUTE FUNCTION forbid();

-- The ledger is append-only. xid tells readers which events can still be
-- overtaken by a slower transaction.
CREATE TABLE ledger (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    xid          xid8        NOT NULL DEFAULT pg_current_xact_id(),
    kind         text        NOT NULL,
    recorded_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    effective_at timestamptz NOT NULL,
    claim_id     bigint,
    payment_id   bigint,
    refund_id    bigint,
    x smallint, y smallint, w smallint, h smallint,
    blocks       integer     NOT NULL DEFAULT 0,
    amount       bigint      NOT NULL DEFAULT 0,
    currency     text        NOT NULL,
    actor        text        NOT NULL
);
CREATE INDEX ledger_claim ON ledger (claim_id, id);
CREATE INDEX ledger_position ON ledger (xid, id);

CREATE TRIGGER ledger_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger
    FOR EACH STATEMENT EXECUTE FUNCTION forbid();

-- +goose Down
DROP TABLE ledger;
DROP TABLE blocks;
DROP FUNCTION forbid;
DROP SEQUENCE claim_ids;
