package market

import (
	"context"

	"tuval/internal/creative"
	"tuval/internal/db"
)

// ForgetRequests clears remembered answers that are older than a day.
func (m *Market) ForgetRequests(ctx context.Context) error {
	_, err := m.pool.Exec(ctx, `DELETE FROM requests WHERE created_at < now() - interval '25 hours'`)
	if err != nil {
		return db.Explain("market: forget requests", err)
	}
	return nil
}

// SweepPictures removes pictures of submissions that came to nothing.
func (m *Market) SweepPictures(ctx context.Context) error { return creative.Sweep(ctx, m.pool) }
