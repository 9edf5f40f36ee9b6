-- +goose Up

-- A person is a browser session or an API caller; with a confirmed address it
-- is an account.
CREATE TABLE persons (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email      text        UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE rentals (
    id             bigint      PRIMARY KEY DEFAULT nextval('claim_ids'),
    key            text        NOT NULL UNIQUE,
    public_id      text        NOT NULL UNIQUE,
    token_version  integer     NOT NULL DEFAULT 1,
    person_id      bigint      NOT NULL REFERENCES persons,
    account_id     bigint      REFERENCES persons,
    address        bytea       NOT NULL,
    x smallint NOT NULL, y smallint NOT NULL, w smallint NOT NULL, h smallint NOT NULL,
    state          text        NOT NULL CHECK (state IN ('held', 'paying', 'paid', 'live', 'ended', 'closed')),
    closed_reason  text        CHECK (closed_reason IN ('expired', 'cancelled', 'unapproved', 'not_renewed', 'refunded', 'removed', 'payment_failed')),
    price_per_week bigint      NOT NULL CHECK (price_per_week > 0),
    currency       text        NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    counted_from   timestamptz NOT NULL,
    kept           boolean     NOT NULL DEFAULT false,
    leased_until   timestamptz,
    email          text,
    go_live_at     timestamptz,
    paid_at        timestamptz,
    approve_by     timestamptz,
    live_from      timestamptz,
    ends_at        timestamptz,
    reserved_until timestamptz,
    hidden         boolean     NOT NULL DEFAULT false,
    closed_at      timestamptz,
    CHECK ((state = 'closed') = (closed_reason IS NOT NULL)),
    CHECK ((state = 'closed') = (closed_at IS NOT NULL)),
    CHECK ((state = 'closed') = (leased_until IS NULL)),
    CHECK (state NOT IN ('paid', 'live', 'ended') OR paid_at IS NOT NULL),
    CHECK (state NOT IN ('live', 'ended') OR (live_from IS NOT NULL AND ends_at IS NOT NULL))
);
CREATE INDEX rentals_person ON rentals (person_id, created_at);
CREATE INDEX rentals_account ON rentals (account_id, created_at) WHERE account_id IS NOT NULL;
CREATE INDEX rentals_address ON rentals (address, created_at);
CREATE INDEX rentals_unpaid ON rentals (leased_until) WHERE state IN ('held', 'paying');
CREATE INDEX rentals_open ON rentals (state, id) WHERE state <> 'closed';
CREATE INDEX rentals_email ON rentals (email) WHERE email IS NOT NULL AND account_id IS NULL;

CREATE TABLE blocked_areas (
    id         bigint      PRIMARY KEY DEFAULT nextval('claim_ids'),
    key        text        NOT NULL UNIQUE,
    x smallint NOT NULL, y smallint NOT NULL, w smallint NOT NULL, h smallint NOT NULL,
    note       text        NOT NULL,
    until      timestamptz NOT NULL,
    created_by text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    closed_at  timestamptz
);
CREATE INDEX blocked_open ON blocked_areas (id) WHERE closed_at IS NULL;

CREATE TABLE payments (
    id              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key             text        NOT NULL UNIQUE,
    rental_id       bigint      NOT NULL REFERENCES rentals,
    purpose         text        NOT NULL CHECK (purpose IN ('new', 'extend', 'renew')),
    weeks           integer     NOT NULL CHECK (weeks BETWEEN 1 AND 52),
    amount          bigint      NOT NULL CHECK (amount > 0),
    currency        text        NOT NULL,
    state           text        NOT NULL CHECK (state IN ('open', 'processing', 'paid', 'expired', 'failed')),
    -- applied: its weeks were given; returned: the money goes back whole
    outcome         text        CHECK (outcome IN ('applied', 'returned')),
    idempotency_key text        NOT NULL UNIQUE,
    email           text        NOT NULL,
    go_live_at      timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL,
    session_id      text        UNIQUE,
    session_url     text,
    payment_intent  text,
    ended_at        timestamptz,
    paid_at         timestamptz,
    CHECK ((state = 'paid') = (paid_at IS NOT NULL)),
    CHECK ((state = 'paid') = (outcome IS NOT NULL))
);
-- One purchase can be payable at a time for a rental.
CREATE UNIQUE INDEX payments_one_open ON payments (rental_id) WHERE state = 'open';
CREATE INDEX payments_rental ON payments (rental_id, id);
CREATE INDEX payments_intent ON payments (payment_intent) WHERE payment_intent IS NOT NULL;
CREATE INDEX payments_unfinished ON payments (expires_at) WHERE state IN ('open', 'processing');

CREATE TABLE refunds (
    id              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key             text        NOT NULL UNIQUE,
    payment_id      bigint      NOT NULL REFERENCES payments,
    amount          bigint      NOT NULL CHECK (amount > 0),
    currency        text        NOT NULL,
    state           text        NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed')),
    reason          text        NOT NULL,
    idempotency_key text        NOT NULL UNIQUE,
    stripe_id       text        UNIQUE,
    created_at      timestamptz NOT NULL DEFAULT now(),
    called_at       timestamptz,
    settled_at      timestamptz,
    failure         text
);
CREATE INDEX refunds_payment ON refunds (payment_id, id);
CREATE INDEX refunds_waiting ON refunds (created_at) WHERE state IN ('pending', 'failed');

-- What Stripe told us, as it told us, once an event.
CREATE TABLE stripe_events (
    id          text        PRIMARY KEY,
    type        text        NOT NULL,
    livemode    boolean     NOT NULL,
    -- of a refund: what was refunded, so that a refund known before its
    -- payment is found when the payment is booked
    refunded_intent text,
    payload     bytea       NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    applied_at  timestamptz,
    outcome     text
);
CREATE INDEX stripe_events_refunded ON stripe_events (refunded_intent) WHERE refunded_intent IS NOT NULL;
CREATE INDEX stripe_events_waiting ON stripe_events (received_at) WHERE applied_at IS NULL;

-- Pictures by the hash of their bytes.
CREATE TABLE pictures (
    hash       text        PRIMARY KEY,
    mime       text        NOT NULL,
    width      integer     NOT NULL,
    height     integer     NOT NULL,
    bytes      bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE pictures ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE creatives (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key          text        NOT NULL UNIQUE,
    rental_id    bigint      NOT NULL REFERENCES rentals,
    revision     integer     NOT NULL,
    state        text        NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'superseded')),
    reason       text,
    link         text        NOT NULL,
    link_host    text        NOT NULL,
    title        text        NOT NULL,
    alt          text        NOT NULL,
    fit          text        NOT NULL CHECK (fit IN ('cover', 'contain')),
    picture      text        NOT NULL REFERENCES pictures,
    picture_2x   text        NOT NULL REFERENCES pictures,
    submitted_at timestamptz NOT NULL DEFAULT now(),
    decided_at   timestamptz,
    decided_by   text,
    UNIQUE (rental_id, revision)
);
CREATE UNIQUE INDEX creatives_one_approved ON creatives (rental_id) WHERE state = 'approved';
CREATE UNIQUE INDEX creatives_one_pending ON creatives (rental_id) WHERE state = 'pending';
CREATE INDEX creatives_picture ON creatives (picture);
CREATE INDEX creatives_picture_2x ON creatives (picture_2x);
CREATE INDEX creatives_queue ON creatives (submitted_at) WHERE state = 'pending';

-- Answers to repeated requests, kept a day.
CREATE TABLE requests (
    scope      text        NOT NULL,
    caller     text        NOT NULL,
    key        text        NOT NULL,
    body_hash  bytea       NOT NULL,
    answer     jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (scope, caller, key)
);
CREATE INDEX requests_age ON requests (created_at);

-- The outbox: each fact is mailed once.
CREATE TABLE mails (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fact       text        NOT NULL UNIQUE,
    kind       text        NOT NULL,
    rental_id  bigint      REFERENCES rentals,
    recipient  text        NOT NULL,
    subject    text        NOT NULL,
    text_body  text        NOT NULL,
    html_body  text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    sent_at    timestamptz
);
CREATE INDEX mails_unsent ON mails (id) WHERE sent_at IS NULL;

-- What needs a person's eye.
CREATE TABLE anomalies (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key         text        NOT NULL UNIQUE,
    fact        text        NOT NULL UNIQUE,
    kind        text        NOT NULL,
    rental_id   bigint      REFERENCES rentals,
    payment_id  bigint      REFERENCES payments,
    refund_id   bigint      REFERENCES refunds,
    message     text        NOT NULL,
    action      text        NOT NULL DEFAULT '',
    first_seen  timestamptz NOT NULL DEFAULT now(),
    last_seen   timestamptz NOT NULL DEFAULT now(),
    resolved_at timestamptz
);
CREATE INDEX anomalies_open ON anomalies (kind) WHERE resolved_at IS NULL;

-- Clicks on areas, counted by day; no address is kept.
CREATE TABLE clicks (
    rental_id bigint  NOT NULL REFERENCES rentals,
    day       date    NOT NULL,
    count     integer NOT NULL,
    PRIMARY KEY (rental_id, day)
);

-- Nothing about orders or money is ever deleted.
CREATE TRIGGER rentals_stay   BEFORE DELETE OR TRUNCATE ON rentals   FOR EACH STATEMENT EXECUTE FUNCTION forbid();
CREATE TRIGGER payments_stay  BEFORE DELETE OR TRUNCATE ON payments  FOR EACH STATEMENT EXECUTE FUNCTION forbid();
CREATE TRIGGER refunds_stay   BEFORE DELETE OR TRUNCATE ON refunds   FOR EACH STATEMENT EXECUTE FUNCTION forbid();
CREATE TRIGGER creatives_stay BEFORE DELETE OR TRUNCATE ON creatives FOR EACH STATEMENT EXECUTE FUNCTION forbid();
CREATE TRIGGER events_stay    BEFORE DELETE OR TRUNCATE ON stripe_events FOR EACH STATEMENT EXECUTE FUNCTION forbid();
CREATE TRIGGER blocked_stay   BEFORE DELETE OR TRUNCATE ON blocked_areas FOR EACH STATEMENT EXECUTE FUNCTION forbid();

-- +goose Down
DROP TABLE clicks, anomalies, mails, requests, creatives, pictures, stripe_events, refunds, payments, blocked_areas, rentals, persons;
