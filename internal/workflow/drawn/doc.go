// Package drawn puts the steps of a rental into the words of pages: for an
// admin as a picture with every step, for the buyer as a story. It decides
// nothing: what is so stands in package workflow, how it looks in package views.
package drawn
