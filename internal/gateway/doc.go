// Package gateway is the border to Stripe: the few calls Tuval makes, with
// the idempotency keys that were stored before, and the signed events that
// come in.
//
// It makes one try per call and owns no retries: those belong to the job
// layer. (A payment page that is just being made is waited for; that is no
// second try.) Every call has a time limit. What Stripe answers comes back as plain
// values, so that no other package knows its shapes; an absent or busy Stripe
// is a fault of kind Unavailable, a refusal that cannot heal is ErrRefused.
package gateway
