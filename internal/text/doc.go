// Package text takes in what people type: titles, alt texts, notes, e-mail
// addresses, whole numbers, file names.
//
// What it promises of every text it lets through:
//   - it is valid UTF-8 in normal form NFC, without outer blanks;
//   - it holds no control character, so it can neither end a mail header nor
//     a line of a log: tabs and line ends become one blank, any other control
//     character (NUL among them) is refused;
//   - it holds no character that turns or hides other text: embedding,
//     override and isolate marks (U+202A to U+202E, U+2066 to U+2069) and
//     characters without any look are taken out. Joiners stay, since emoji
//     and several scripts need them;
//   - it is not longer than its limit, counted in Unicode characters after
//     normalisation, so an accented letter is one character however it was
//     typed. (A browser's maxlength counts UTF-16 units, which is never fewer:
//     a field may carry the same number.)
//
// A text is not escaped here: pages and mails escape where they write.
// Refusals are faults of kind Invalid with the field and the limit in words.
//
// The package is pure: no clock, no context, no I/O.
package text
