package views

import "fmt"

// Remaining says how long something still lasts, in the words that the
// countdown in the browser goes on with: "3 days 4 h", "5 h 12 min",
// "9 min 41 s", "41 s".
func Remaining(seconds int64) string {
	switch {
	case seconds >= 172_800:
		return fmt.Sprintf("%d days %d h", seconds/86_400, seconds%86_400/3600)
	case seconds >= 3600:
		return fmt.Sprintf("%d h %d min", seconds/3600, seconds%3600/60)
	case seconds >= 60:
		return fmt.Sprintf("%d min %d s", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%d s", max(seconds, 0))
}
