// Package show turns what the market knows into what the pages say: amounts,
// instants and counts become words, a rental's state and pictures become the
// phase that its buyer sees.
//
// It is pure: every function is of the facts it is given, the instant
// included. It decides nothing; a button that is shown is a guess that the
// market judges again when it is pressed.
package show
