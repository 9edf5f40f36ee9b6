-- +goose Up

-- Each time all data was moved into the past (development and tests only).
-- Whoever keeps something in memory compares the number of rows.
CREATE TABLE clock_shifts (
    id bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    by interval    NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE clock_shifts;
