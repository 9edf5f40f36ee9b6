// Command stories shows every page in every state with invented data, so that people
// can look at them without a database, a payment or a moderator. It is a tool
// for development: the product does not import it.
//
//	go run ./views/stories -addr 127.0.0.1:8090
//
// It owns nothing that is shipped and promises one thing: the pages it shows
// are the product's own, sent under the product's Content-Security-Policy. Each
// page adds its states in a file of its own, by a function that returns stories
// and is named in allStories. A browser drags, types and taps on the canvas
// page in the tests, since no database is needed for that.
package main
