package show

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tuval/internal/grid"
	"tuval/views"
)

// Place writes a rect for people. canvas is the address of a picture of the
// canvas.
func Place(r grid.Rect, canvas string) views.PlaceView {
	return views.PlaceView{Col: r.X + 1, Row: r.Y + 1, W: r.W, H: r.H, Canvas: canvas}
}

// Moment writes an instant that may not be set.
func Moment(t *time.Time) views.Moment {
	if t == nil {
		return views.Moment{}
	}
	return views.MomentOf(*t)
}

// Left is the time from now to a deadline.
func Left(now time.Time, deadline *time.Time) views.CountdownView {
	if deadline == nil {
		return views.CountdownView{}
	}
	seconds := int64(max(0, deadline.Sub(now)+time.Second-1) / time.Second)
	at := views.MomentOf(*deadline)
	return views.CountdownView{
		Seconds: seconds, Text: views.Remaining(seconds), Deadline: at.ISO, Title: at.Text, Done: "reload", Gone: "over",
	}
}

// Count writes a number with its thousands apart.
func Count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted writes a number with its noun: "1 week", "4 weeks".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}

// Duration writes a length in the largest unit that divides it: "10 minutes",
// "48 hours", "30 days".
func Duration(d time.Duration) string {
	for _, u := range []struct {
		length time.Duration
		least  int64
		noun   string
	}{{24 * time.Hour, 3, "day"}, {time.Hour, 2, "hour"}, {time.Minute, 1, "minute"}, {time.Second, 1, "second"}} {
		if n := int64(d / u.length); d%u.length == 0 && n >= u.least {
			return Counted(int(n), u.noun)
		}
	}
	return d.String()
}

// Hour is an instant in the form of an <input type=datetime-local>, in UTC.
func Hour(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(HourForm)
}

// HourForm is how browsers write date and time, without a zone.
const HourForm = "2006-01-02T15:04"

func words(code string) string { return strings.ReplaceAll(code, "_", " ") }

// size writes width and height with the place of the first block, short.
func size(r grid.Rect) string { return fmt.Sprintf("%d × %d at %d, %d", r.W, r.H, r.X+1, r.Y+1) }
