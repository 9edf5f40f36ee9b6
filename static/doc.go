// Package static owns the files that every page refers to (style sheet,
// scripts, icons, the web manifest) and serves them.
//
// There is no build step. [New] takes the embedded sources, joins the style
// sheets into app.css, names every file after the hash of what it says,
// rewrites the addresses by which files refer to each other, and compresses
// each once. What a browser gets under a hashed name therefore never changes
// and is cached for ever; a new version of a file is a new name.
//
// How files refer to each other:
//
//   - a script imports another by its relative path, `from "./geometry.js"`;
//   - anything else writes `asset:img/icon.svg`.
//
// Both become hashed addresses, so a plain script-src 'self' is enough: no
// import map, no inline script.
//
// Tests of the scripts are js/*.test.mjs, run with node --test; they are not
// embedded. vendor/ holds other people's files, unchanged, each with its
// licence and checksum.
package static
