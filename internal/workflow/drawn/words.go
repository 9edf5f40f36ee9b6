package drawn

import (
	"strconv"
	"strings"
)

func spaced(code string) string { return strings.ReplaceAll(code, "_", " ") }

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
