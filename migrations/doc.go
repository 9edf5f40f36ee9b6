// Package migrations holds the schema's history and applies it.
//
// Apply is safe when several processes start at once: one advisory lock
// covers our files (goose) and the job queue's own migrations (River).
package migrations
