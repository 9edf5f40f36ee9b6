package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// filenameMax is the longest name given to a download, in bytes; most file
// systems stop at 255.
const filenameMax = 120

// SafeFilename makes a name for a download out of whatever a client sent: the
// last element of the path, letters, digits, dots, hyphens and underscores of
// any script, no leading dot, no name that Windows keeps for itself, at most
// 120 bytes with the ending kept. It returns fallback when nothing is left.
//
// It is for the Content-Disposition of a download only; write it there with
// mime.FormatMediaType. Nothing is ever stored or decided by a file's name.
func SafeFilename(name, fallback string) string {
	name = strings.ToValidUTF8(name, "")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = norm.NFC.String(strings.Map(filenameRune, name)) // in this order: dropping may join
	for strings.Contains(name, "__") {
		name = strings.ReplaceAll(name, "__", "_")
	}
	name = strings.Trim(name, "._- ")
	if name == "" {
		return fallback
	}
	if reserved(name) {
		name = "_" + name
	}
	return shorten(name)
}

func filenameRune(c rune) rune {
	switch {
	case c == '.' || c == '-' || unicode.In(c, unicode.L, unicode.N, unicode.Mn, unicode.Mc):
		return c
	case unicode.IsControl(c) || unicode.Is(unicode.Cf, c):
		return -1
	}
	return '_'
}

// reserved are device names on Windows, with any ending.
func reserved(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch stem {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT")) && stem[3] >= '0' && stem[3] <= '9'
}

// shorten cuts the stem at a whole character and keeps a short ending.
func shorten(name string) string {
	if len(name) <= filenameMax {
		return name
	}
	ending := ""
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && len(name)-dot <= 10 {
		ending = name[dot:]
	}
	cut := filenameMax - len(ending)
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return strings.TrimRight(name[:cut], "._- ") + ending
}
