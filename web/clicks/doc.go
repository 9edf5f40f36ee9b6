// Package clicks counts who follows the links of the canvas: one number for an
// area and a day (UTC), and nothing about whoever clicked.
//
// Whether an area is on the canvas is judged by the same statement that counts
// and at that instant, so a link ends with the second its time does.
package clicks
