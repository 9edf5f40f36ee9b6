-- +goose Up

-- What an admin wrote to the buyer about what was done, kept with the event.
ALTER TABLE ledger ADD COLUMN note text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE ledger DROP COLUMN note;
