// Package compose draws the picture of the canvas: the approved pictures on
// their blocks, and an even ground where there is none.
//
// It promises:
//   - a picture never shows outside its own rect, whatever its size;
//   - a patched canvas equals one that was drawn anew, pixel by pixel, so a
//     change of one area costs that area only;
//   - the result is opaque: where a picture is transparent the ground shows.
//
// The ground is white, without lines: the page lays the colour of its theme
// over it. The grid of blocks is the page's to draw, since it depends on zoom
// and theme.
//
// The PNG is the exact picture. The WebP is a lossy preview for the first
// paint, a quarter to a tenth of its size; colours may be off by a little.
//
// Functions are pure and keep nothing between calls. A canvas must not be
// drawn on and encoded at the same time: encode a Clone.
package compose
