// Package grid knows the shape of the canvas: 100 x 100 blocks of 10 x 10
// pixels, and the rectangles of whole blocks that people rent.
//
// It is pure: no clock, no context, no I/O. Coordinates are 0-based here and
// in JSON; pages speak to people 1-based.
package grid
