// Package board is the canvas as everybody sees it: which areas are held,
// taken, live, reserved or blocked, and the composed picture of what is live.
//
// It is a reader: PostgreSQL is authoritative. A process keeps the last board
// it read and asks, by one small indexed query, whether the ledger has got
// events since that the board's snapshot could not see; it also knows the
// next moment at which time alone changes something. So an answer is never
// older than the question, and costs a full read only after a change.
//
// A revision names the content of a board: the same content has the same
// revision in every process. Pictures are composed when somebody asks, once
// for each content of the live areas.
package board
