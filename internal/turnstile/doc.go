// Package turnstile decides every race for blocks: all blocks of a rect go to
// one claim, only if every one of them is free, else none does.
package turnstile
