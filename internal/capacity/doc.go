// Package capacity knows how much the operator can serve: how many pictures
// moderators can look at in an hour, how many pixels can go live in a day, how
// many payment pages can be opened in a quarter of an hour.
//
// An order counts as an event with a due time: a positive one when it is
// entered, and one with the same due time and the opposite sign when it is
// given back. Both stand in the ledger. Three things are made of them:
//
//   - Model, pure: sums per metric and window, each made of the events, and
//     the answer to which hours a cart could go live at.
//   - Memory, a process's copy of the model: loaded by the first question in
//     one query, kept current by what the ledger gets, dropped when nobody
//     asks any more. Soft limits are judged by it.
//   - Counters, rows in the database: a hard limit is one conditional write to
//     one of them, in the transaction that makes the payment, so that no two
//     processes can overshoot. They are always the sum of the entries.
//
// A limit of 0 is no limit.
package capacity
