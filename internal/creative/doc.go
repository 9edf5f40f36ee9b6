// Package creative is one revision of what a rental shows: picture, link,
// title and alternative text, each with its own review.
//
//	pending --> approved --> superseded (by the next approval)
//	  |--> rejected
//	  +--> superseded (by a newer upload, before anybody decided)
//
// What is approved is exactly the revision that was on the moderator's
// screen: approving names it, and a newer upload makes the answer a conflict.
// Pictures are kept by the hash of their bytes in PostgreSQL, so that any
// process can serve them and none is stored twice.
package creative
