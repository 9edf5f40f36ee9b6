package market

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/rental"
)

// used is what a person or an address has in unpaid holds: now, and in time
// really used in a rolling day. Holds that were paid do not count, nor do
// those that this request replaces, as far as they would be held at once.
type used struct {
	Holds, Blocks             int
	BlockMinutes, HoldMinutes float64
	NextFree                  time.Duration
}

const sqlUsed = `
SELECT count(*) FILTER (WHERE open), COALESCE(sum(area) FILTER (WHERE open), 0),
       COALESCE(sum(minutes * area), 0)::float8, COALESCE(sum(minutes), 0)::float8,
       COALESCE(extract(epoch FROM min(leased_until) FILTER (WHERE open) - now()), 0)::float8
FROM (SELECT w * h AS area, leased_until,
             state IN ('held', 'paying') AND leased_until > now() AND id <> ALL (@replaced) AS open,
             GREATEST(extract(epoch FROM LEAST(COALESCE(closed_at, leased_until), now())
                              - GREATEST(created_at, now() - interval '24 hours')), 0) / 60 AS minutes
      FROM rentals
      WHERE paid_at IS NULL AND created_at > now() - interval '8 days' AND `

const (
	sqlUsedPerson  = sqlUsed + `(person_id = ANY (@persons) OR account_id = @account)) AS holds`
	sqlUsedAddress = sqlUsed + `address = @address) AS holds`

	// Holds of one person, or from one address, are judged one after the other.
	// The first keys keep these locks apart from all others.
	sqlLockPerson  = `SELECT pg_advisory_xact_lock(7001, hashtext(@person))`
	sqlLockAddress = `SELECT pg_advisory_xact_lock(7002, hashtext(encode(@address, 'hex')))`
	// A new rental refers to its person. Persons come before rentals in the
	// order of locks, also for whoever signs in.
	sqlHoldPerson = `SELECT FROM persons WHERE id = @id FOR KEY SHARE`
)

// lockPeople makes holds of the same person and address wait for each other.
func lockPeople(ctx context.Context, tx pgx.Tx, who Who) error {
	b := &pgx.Batch{}
	if id := who.Person(); id != 0 {
		b.Queue(sqlLockPerson, pgx.NamedArgs{"person": fmt.Sprint(id)})
		b.Queue(sqlHoldPerson, pgx.NamedArgs{"id": id})
	}
	b.Queue(sqlLockAddress, pgx.NamedArgs{"address": who.Address})
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("market: lock person and address: %w", err)
	}
	return nil
}

// allow judges the limits on unpaid holds. It refuses with a fault of kind
// Limited that names the limit.
func (m *Market) allow(ctx context.Context, tx pgx.Tx, who Who, rect grid.Rect, replaced []rental.ID) error {
	alone, err := m.enterShare(ctx, tx, who, rect)
	if err != nil {
		return err
	}
	ids := make([]int64, len(replaced))
	for i, id := range replaced {
		ids[i] = int64(id)
	}
	args := pgx.NamedArgs{"replaced": ids, "persons": append([]int64{}, who.Persons...), "account": who.Account, "address": who.Address}
	b := &pgx.Batch{}
	b.Queue(sqlUsedPerson, args)
	b.Queue(sqlUsedAddress, args)
	b.Queue(sqlHeldByAll, args)
	results := tx.SendBatch(ctx, b)
	defer results.Close()
	if err := judge(results.QueryRow(), m.rules.Person, "You", rect); err != nil {
		return err
	}
	if err := judge(results.QueryRow(), m.rules.Address, "People at your network address", rect); err != nil {
		return err
	}
	var held int
	if err := results.QueryRow().Scan(&held); err != nil {
		return fmt.Errorf("market: read what is held: %w", err)
	}
	return m.mostHeld().judge(held+rect.Area(), alone)
}

func judge(row pgx.Row, l Limits, who string, rect grid.Rect) error {
	var u used
	var next float64
	if err := row.Scan(&u.Holds, &u.Blocks, &u.BlockMinutes, &u.HoldMinutes, &next); err != nil {
		return fmt.Errorf("market: read the limits: %w", err)
	}
	u.NextFree = time.Duration(max(next, 1) * float64(time.Second))
	switch {
	case u.Holds >= l.Holds:
		return fault.Limit(fmt.Sprintf("%s can have at most %d unpaid holds at once. Pay for one or let it go first.", who, l.Holds), u.NextFree)
	case u.Blocks+rect.Area() > l.Blocks:
		return fault.Limit(fmt.Sprintf("%s can hold at most %d unpaid blocks at once, and %d are held already.", who, l.Blocks, u.Blocks), u.NextFree)
	case int(u.BlockMinutes) >= l.BlockMinutes:
		return fault.Limit(fmt.Sprintf("%s have used up the %d block-minutes of unpaid holds of a day.", who, l.BlockMinutes), 15*time.Minute)
	case l.HoldMinutes > 0 && int(u.HoldMinutes) >= l.HoldMinutes:
		return fault.Limit(fmt.Sprintf("%s have used up the %d minutes of unpaid holds of a day.", who, l.HoldMinutes), 15*time.Minute)
	}
	return nil
}
