-- +goose Up

-- The mails about one rental, the newest first.
CREATE INDEX mails_rental ON mails (rental_id, id) WHERE rental_id IS NOT NULL;

-- +goose Down
DROP INDEX mails_rental;
