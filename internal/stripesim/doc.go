// Package stripesim is a stateful stand-in for Stripe: Tuval runs it by itself
// in development, when no Stripe key is set, and the tests drive it.
//
// It owns the PostgreSQL schema "stripesim" and nothing else; no other package
// reads or writes there, and it reads nothing of the marketplace. All its
// state is in that schema, so it survives restarts and any number of processes
// may run one simulator together. Time is the database's now().
//
// What it promises:
//
//   - The official Go client (v76), pointed at it, works unchanged: forms with
//     nested keys in, JSON and Stripe's error objects out, request ids,
//     idempotency keys kept for 24 hours, lists with cursors.
//   - Every change is decided by one conditional statement; two people who pay
//     one session at once make one charge.
//   - A checkout session is over at expires_at to the microsecond, whoever
//     asks, whether or not the expirer has got round to it.
//   - Events are stored in the transaction that caused them and are signed and
//     sent by Run, never by a request. An endpoint that does not answer 2xx
//     hears again with growing gaps.
//   - It can misbehave on purpose: see Fault.
//   - It refuses to exist in production.
//
// A session:
//
//	          pay / pending debit               debit settles
//	open ----------------------> complete ----------------------> (paid)
//	  |   \_ card declined: open          \_ debit fails: (unpaid)
//	  |
//	  +-- expires_at or POST .../expire --> expired -- late payment --> complete
//
// The arrow from expired to complete does not exist at Stripe as a rule, but
// money that arrives late does; PayLate makes some.
//
// All processes over one database get the same key, webhook address and
// secrets: any of them may send what another one caused.
//
// Besides the Go API, a test in another process has JSON controls:
//
//	POST   /sim/sessions/{id}/pay|pay_late|complete_unpaid  {"amount","currency","email"}, all optional
//	POST   /sim/sessions/{id}/decline|async_succeed|async_fail|expire
//	POST   /sim/refunds                    {"payment_intent"|"charge","amount","reason"}
//	POST   /sim/refunds/{id}/succeed|fail  {"reason"}
//	POST   /sim/disputes                   {"payment_intent"|"charge","reason"}
//	POST   /sim/disputes/{id}/close        {"won"}
//	GET    /sim/faults, POST (a Fault), DELETE (all)
//	GET    /sim/webhooks                   {"waiting","held","webhooks":[...]}
//	POST   /sim/webhooks/release           {"order":"created"|"reverse"}
//	POST   /sim/events/{id}/resend         {"copies"}
//	GET    /sim/requests?endpoint=         {"counts":{...},"requests":[...]}; DELETE empties it
//
// A refund is pending, succeeded or failed; a failed one no longer counts
// against its charge, so what it took can be refunded again. A disputed
// charge is refused until the dispute is won.
package stripesim
