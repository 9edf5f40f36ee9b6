-- +goose Up

-- An e-mail address is compared without case; the contact address of a rental
-- is kept as it was typed.
CREATE INDEX rentals_email_key ON rentals (lower(email)) WHERE email IS NOT NULL AND account_id IS NULL;

CREATE TABLE admins (
    id            bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email         text        NOT NULL UNIQUE CHECK (email = lower(email)),
    password_hash text        NOT NULL, -- argon2id, with its parameters
    created_at    timestamptz NOT NULL DEFAULT now(),
    disabled_at   timestamptz
);

-- Tokens of admins for the API. What is kept cannot be used as a token.
CREATE TABLE admin_tokens (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    admin_id   bigint      NOT NULL REFERENCES admins,
    token_hash bytea       NOT NULL UNIQUE,
    hint       text        NOT NULL, -- its last characters, to tell tokens apart
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    used_at    timestamptz,          -- the last use, to the hour
    revoked_at timestamptz
);
CREATE INDEX admin_tokens_admin ON admin_tokens (admin_id, id);

-- Links that were mailed to sign in; each works once.
CREATE TABLE sign_in_links (
    token_hash bytea       PRIMARY KEY,
    email      text        NOT NULL,
    rental_key text,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    used_at    timestamptz
);
CREATE INDEX sign_in_links_email ON sign_in_links (lower(email), created_at);
CREATE INDEX sign_in_links_age ON sign_in_links (expires_at);

-- Browser sessions, under the hash of the token in the cookie. A browser may
-- be several persons: what it made before it signed in stays its own.
CREATE TABLE sessions (
    token_hash text        PRIMARY KEY,
    persons    bigint[]    NOT NULL DEFAULT '{}',
    account_id bigint      REFERENCES persons,
    admin_id   bigint      REFERENCES admins,
    flash      jsonb       NOT NULL DEFAULT '[]',
    created_at timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz NOT NULL DEFAULT now(), -- to the hour
    expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_admin ON sessions (admin_id) WHERE admin_id IS NOT NULL;
CREATE INDEX sessions_age ON sessions (expires_at);

-- A mail is sent by whoever holds its lease. Mails that carry a sign-in link
-- forget their words once they are on their way.
ALTER TABLE mails
    ADD COLUMN confidential boolean     NOT NULL DEFAULT false,
    ADD COLUMN attempts     integer     NOT NULL DEFAULT 0,
    ADD COLUMN sending_until timestamptz;

-- +goose Down
ALTER TABLE mails DROP COLUMN confidential, DROP COLUMN attempts, DROP COLUMN sending_until;
DROP TABLE sessions, sign_in_links, admin_tokens, admins;
DROP INDEX rentals_email_key;
