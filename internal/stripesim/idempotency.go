package stripesim

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
)

// perform runs an action, under its key if it has one.
//
// The key is claimed in a statement of its own, so that a second call sees it
// and is told instead of waiting. The action and its stored answer are one
// transaction: after a crash there are both or neither. A refusal of the
// parameters frees the key; anything decided later, also a 500, is kept.
func (s *Sim) perform(ctx context.Context, c *call, do action) reply {
	if c.key != "" {
		if earlier, err := s.claimKey(ctx, c); err != nil {
			return s.replyTo(c, err)
		} else if earlier != nil {
			return *earlier
		}
	}
	c.pause() // with the key in use, as at Stripe
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	var rep reply
	events, err := s.inWork(ctx, c.endpoint, c.origin(), func(ctx context.Context, w *work) error {
		if err := c.lockKey(ctx, w.tx); err != nil {
			return err
		}
		var err error
		if rep, err = c.run(ctx, w, do); err != nil {
			return err
		}
		return c.storeKey(ctx, w.tx, rep)
	})
	if err != nil {
		s.freeKey(context.WithoutCancel(ctx), c)
		return s.replyTo(c, err)
	}
	c.events = events
	return rep
}

// run acts and makes the answer; an error means that nothing is to be kept.
func (c *call) run(ctx context.Context, w *work, do action) (reply, error) {
	v, err := do(ctx, w)
	var refusal *Error
	switch {
	case errors.As(err, &refusal) && !refusal.early:
		return replyError(refusal), nil
	case err != nil:
		return reply{}, err
	case c.fault.Kind == FaultErrorAfter:
		return replyError(trouble(http.StatusInternalServerError)), nil
	}
	return replyWith(http.StatusOK, v), nil
}

// keyLife is how long an answer is kept; keyBusy is how long a call that has
// begun is believed to be alive.
const (
	keyLife = 24 * time.Hour
	keyBusy = patience + 5*time.Second
)

const claimKey = `
	INSERT INTO stripesim.idempotency_keys AS k (key, endpoint, fingerprint, owner, created, busy_until)
	VALUES (@key, @endpoint, @fingerprint, @owner, now(), now() + @busy::interval)
	ON CONFLICT (key) DO UPDATE SET endpoint = EXCLUDED.endpoint, fingerprint = EXCLUDED.fingerprint, owner = EXCLUDED.owner,
		created = EXCLUDED.created, busy_until = EXCLUDED.busy_until, status = NULL, body = NULL
	WHERE k.created <= now() - @life::interval OR (k.status IS NULL AND k.busy_until <= now())
	RETURNING key`

type storedKey struct {
	Endpoint    string
	Fingerprint []byte
	Owner       string
	Status      *int
	Body        []byte
}

// claimKey makes the key this call's. It returns the answer of an earlier
// call with the same key instead, or refuses.
func (s *Sim) claimKey(ctx context.Context, c *call) (*reply, error) {
	const find = `SELECT endpoint, fingerprint, owner, status, body FROM stripesim.idempotency_keys WHERE key = @key`
	type row struct{ Key string }
	for range 3 { // the key may be freed between the two statements
		claimed, err := one[row](ctx, s.o.Pool, claimKey, pgx.StrictNamedArgs{
			"key": c.key, "endpoint": c.endpoint, "fingerprint": c.fingerprint(), "owner": c.requestID,
			"busy": keyBusy + time.Duration(c.fault.Delay), "life": keyLife,
		})
		if err != nil || claimed != nil {
			return nil, err
		}
		k, err := one[storedKey](ctx, s.o.Pool, find, pgx.StrictNamedArgs{"key": c.key})
		if err != nil {
			return nil, err
		}
		if k != nil {
			return k.earlier(c)
		}
	}
	return nil, keyInUse(c.key)
}

// earlier is what a key that belongs to an earlier call means for this one.
func (k *storedKey) earlier(c *call) (*reply, error) {
	switch {
	case string(k.Fingerprint) != string(c.fingerprint()):
		return nil, &Error{
			Status: http.StatusBadRequest, Type: idempotencyError, early: true,
			Message: "Keys for idempotent requests can only be used with the same endpoint and parameters they were first used with (" +
				k.Endpoint + "). Use another key than '" + c.key + "' for another request.",
		}
	case k.Status == nil:
		return nil, keyInUse(c.key)
	}
	return &reply{status: *k.Status, body: k.Body, outcome: outcomeReplayed, original: k.Owner}, nil
}

func keyInUse(key string) *Error {
	return &Error{
		Status: http.StatusConflict, Type: invalidRequest, Code: "idempotency_key_in_use", early: true,
		Message: "Another request with the idempotency key '" + key + "' is still in progress. Please try again later.",
	}
}

// fingerprint is the same for the same request: its address and parameters.
func (c *call) fingerprint() []byte {
	request, _ := json.Marshal([]any{c.r.Method, c.r.URL.Path, c.form.flat()}) // strings only: cannot fail
	sum := sha256.Sum256(request)
	return sum[:]
}

// errKeyLost is a call that took so long that its key was given to another.
var errKeyLost = errors.New("the idempotency key was taken over by a later call")

// lockKey makes sure that the key is still this call's, and keeps it so until
// the end of the transaction.
func (c *call) lockKey(ctx context.Context, tx pgx.Tx) error {
	if c.key == "" {
		return nil
	}
	const lock = `SELECT FROM stripesim.idempotency_keys WHERE key = $1 AND owner = $2 AND status IS NULL FOR UPDATE`
	tag, err := tx.Exec(ctx, lock, c.key, c.requestID)
	if err == nil && tag.RowsAffected() == 0 {
		err = errKeyLost
	}
	return err
}

func (c *call) storeKey(ctx context.Context, tx pgx.Tx, rep reply) error {
	if c.key == "" {
		return nil
	}
	const store = `UPDATE stripesim.idempotency_keys SET status = $3, body = $4 WHERE key = $1 AND owner = $2`
	_, err := tx.Exec(ctx, store, c.key, c.requestID, rep.status, rep.body)
	return err
}

// freeKey forgets a key whose call came to nothing. If that fails the key is
// free once it is no longer believed to be busy.
func (s *Sim) freeKey(ctx context.Context, c *call) {
	if c.key == "" {
		return
	}
	const free = `DELETE FROM stripesim.idempotency_keys WHERE key = $1 AND owner = $2 AND status IS NULL`
	if _, err := s.o.Pool.Exec(ctx, free, c.key, c.requestID); err != nil {
		s.o.Logger.Warn("stripesim: could not free an idempotency key", "request", c.requestID, "error", err)
	}
}
