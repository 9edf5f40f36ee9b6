// Package api is the JSON API below /api/: the canvas for everybody, a rental
// for whoever made it, and what moderators do, for programs.
//
// What it owns: how a request is read (reader.go, fields.go) and how things
// are written down for programs (shape.go). It decides nothing: one call of
// the market does, the same that the pages make.
//
// What it promises:
//   - a body is one JSON object, each field once and none that is not known;
//     a wrong value names its field and its limits, and nothing is guessed;
//   - without credentials everything private is answered 401, with somebody
//     else's 404, whether or not it exists;
//   - the same request under the same Idempotency-Key gets the same answer;
//   - every answer is described by openapi.yaml, which the tests hold every
//     request and answer against.
//
// Who asks is found by package visitor (the browser's session) or, when the
// request shows a token, here: then the session counts for nothing.
package api
