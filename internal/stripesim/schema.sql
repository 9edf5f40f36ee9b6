-- The simulator's own schema. Amounts are minor units; "created" is kept in
-- whole seconds as Stripe does, and seq orders what falls into one second.

CREATE TABLE stripesim.sessions (
    id                   text PRIMARY KEY,
    seq                  bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    created              timestamptz NOT NULL,
    expires_at           timestamptz NOT NULL,
    status               text NOT NULL CHECK (status IN ('open', 'complete', 'expired')),
    payment_status       text NOT NULL CHECK (payment_status IN ('unpaid', 'paid')),
    payment_intent       text UNIQUE,
    amount_total         bigint NOT NULL CHECK (amount_total > 0),
    currency             text NOT NULL,
    client_reference_id  text,
    customer_email       text,
    payer_email          text,
    metadata             jsonb NOT NULL,
    intent_metadata      jsonb NOT NULL,
    intent_description   text,
    line_items           jsonb NOT NULL,
    payment_method_types text[] NOT NULL,
    success_url          text NOT NULL,
    cancel_url           text,
    locale               text,
    submit_type          text,
    decline_message      text
);
CREATE INDEX sessions_due ON stripesim.sessions (expires_at) WHERE status = 'open';
CREATE INDEX sessions_created ON stripesim.sessions (created);

CREATE TABLE stripesim.payment_intents (
    id                   text PRIMARY KEY,
    seq                  bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    created              timestamptz NOT NULL,
    session              text NOT NULL UNIQUE REFERENCES stripesim.sessions,
    status               text NOT NULL CHECK (status IN ('requires_payment_method', 'processing', 'succeeded')),
    amount               bigint NOT NULL CHECK (amount > 0),
    currency             text NOT NULL,
    description          text,
    latest_charge        text,
    metadata             jsonb NOT NULL,
    payment_method_types text[] NOT NULL,
    decline_message      text
);

CREATE TABLE stripesim.charges (
    id              text PRIMARY KEY,
    seq             bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    created         timestamptz NOT NULL,
    payment_intent  text NOT NULL REFERENCES stripesim.payment_intents,
    status          text NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
    amount          bigint NOT NULL CHECK (amount > 0),
    amount_refunded bigint NOT NULL DEFAULT 0 CHECK (amount_refunded BETWEEN 0 AND amount),
    currency        text NOT NULL,
    description     text,
    email           text,
    metadata        jsonb NOT NULL,
    method          text NOT NULL,
    failure_message text,
    dispute         text,
    -- The dispute's state is on this row, too, so that one statement can see
    -- it and refuse: a subquery would read an older snapshot.
    dispute_state   text NOT NULL DEFAULT 'none' CHECK (dispute_state IN ('none', 'open', 'won', 'lost'))
);
CREATE INDEX charges_intent ON stripesim.charges (payment_intent);
-- One payment takes money at most once.
CREATE UNIQUE INDEX charges_once ON stripesim.charges (payment_intent) WHERE status <> 'failed';

CREATE TABLE stripesim.refunds (
    id             text PRIMARY KEY,
    seq            bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    created        timestamptz NOT NULL,
    charge         text NOT NULL REFERENCES stripesim.charges,
    payment_intent text NOT NULL REFERENCES stripesim.payment_intents,
    status         text NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
    amount         bigint NOT NULL CHECK (amount > 0),
    currency       text NOT NULL,
    reason         text,
    metadata       jsonb NOT NULL,
    failure_reason text
);
CREATE INDEX refunds_intent ON stripesim.refunds (payment_intent);
CREATE INDEX refunds_charge ON stripesim.refunds (charge);

CREATE TABLE stripesim.disputes (
    id             text PRIMARY KEY,
    seq            bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    created        timestamptz NOT NULL,
    charge         text NOT NULL UNIQUE REFERENCES stripesim.charges,
    payment_intent text NOT NULL REFERENCES stripesim.payment_intents,
    status         text NOT NULL CHECK (status IN ('needs_response', 'won', 'lost')),
    amount         bigint NOT NULL CHECK (amount > 0),
    currency       text NOT NULL,
    reason         text NOT NULL
);

-- payload is text, not jsonb: what is signed must be the very bytes.
CREATE TABLE stripesim.events (
    id      text PRIMARY KEY,
    seq     bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    created timestamptz NOT NULL,
    type    text NOT NULL,
    payload text NOT NULL
);
CREATE INDEX events_created ON stripesim.events (created);

-- One row is one webhook to send; an event has none, one, or several when it
-- is to arrive more than once. batch and rank order the rows of one batch.
CREATE TABLE stripesim.deliveries (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event           text NOT NULL REFERENCES stripesim.events ON DELETE CASCADE,
    held            boolean NOT NULL DEFAULT false,
    batch           text,
    rank            integer NOT NULL DEFAULT 0,
    attempts        integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL,
    sending_until   timestamptz,
    delivered_at    timestamptz,
    last_status     integer,
    last_error      text
);
CREATE INDEX deliveries_due ON stripesim.deliveries (next_attempt_at) WHERE delivered_at IS NULL;
CREATE INDEX deliveries_event ON stripesim.deliveries (event);
CREATE INDEX deliveries_batch ON stripesim.deliveries (batch, rank) WHERE batch IS NOT NULL;

-- status and body are the stored answer; while they are null, owner is still
-- working on it, until busy_until at the latest.
CREATE TABLE stripesim.idempotency_keys (
    key         text PRIMARY KEY,
    endpoint    text NOT NULL,
    fingerprint bytea NOT NULL,
    owner       text NOT NULL,
    created     timestamptz NOT NULL,
    busy_until  timestamptz NOT NULL,
    status      integer,
    body        bytea
);
CREATE INDEX idempotency_keys_created ON stripesim.idempotency_keys (created);

CREATE TABLE stripesim.faults (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind      text NOT NULL,
    endpoint  text NOT NULL,
    event     text NOT NULL,
    remaining integer CHECK (remaining >= 0),
    settings  jsonb NOT NULL
);

-- Every call of the API, also refused, replayed and dropped ones.
CREATE TABLE stripesim.requests (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    request_id      text NOT NULL UNIQUE,
    at              timestamptz NOT NULL,
    endpoint        text NOT NULL,
    path            text NOT NULL,
    idempotency_key text,
    params          jsonb NOT NULL,
    status          integer,
    outcome         text NOT NULL,
    fault           text
);
CREATE INDEX requests_at ON stripesim.requests (at);
