// Package picture turns an uploaded file into what is kept of it.
//
// In: the bytes of a PNG, JPEG, WebP or GIF file; the bytes decide, never its
// name or what the client calls it. Out: two PNG files, of exactly the size of
// the rented blocks at 1x and at 2x, upright, in sRGB, and with nothing in
// them but pixels: they are written anew, so no position, serial number, text
// or script of the original survives. An animation becomes its first frame.
//
//	bytes -> Decode -> Picture -> Fit -> pixels at 1x, 2x -> Encode -> Rendition
//
// Studio does it all and lets at most two decodings run at once.
//
// # Limits
//
// DefaultLimits has the numbers. A file is measured by its header before a
// pixel is unpacked, so a small file that claims a huge picture costs nothing.
// A picture within the limits that would still need too much memory to open is
// refused with a hint; that takes a progressive JPEG of more than some 27
// megapixels without chroma subsampling, or an interlaced PNG of more than 34
// megapixels with 16 bits a channel. With two decodings at work the process
// stays below half a gigabyte, whatever is sent.
//
// # Fitting
//
// Cover fills the blocks and cuts off what stands over, evenly; contain shows
// all of the picture, centred, and leaves the rest transparent: the ground of
// the canvas shows through, never black. Scaling is Catmull-Rom with 16 bits a
// channel in premultiplied alpha, so that edges of transparent parts are
// neither dark nor light; much larger pictures are averaged first. A picture
// that has the size of the blocks already is kept pixel by pixel. Small
// pictures are scaled up smoothly.
//
// # Why PNG
//
// What was approved must be exactly what is shown, also in mails: PNG is
// lossless with exact alpha, is read by everything, and by Go itself, so that
// composing the canvas never depends on another codec. Pictures of at most 256
// colours are written with a palette. A photo takes about a byte a pixel (400
// kB for the largest area, 1,000 blocks at 2x; 10 kB for 6 x 4 blocks);
// lossless WebP would take a quarter less, lossy WebP would not be the picture
// that was approved.
//
// # Why so much by hand
//
// The containers are walked here and not by a library: those tried trust the
// lengths in a file and can be made to allocate gigabytes by a few bytes.
// Everything here is bounded by the length of the file. Colour profiles are
// checked for the same reason before the colour library sees them; one that is
// broken is ignored, the picture is then taken for sRGB.
//
// The package is pure: no clock, no network, no disk, no other process.
package picture
