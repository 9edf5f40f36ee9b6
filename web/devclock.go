package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tuval/internal/age"
	"tuval/internal/fault"
	"tuval/internal/rental"
	"tuval/views"
	"tuval/web/form"
	"tuval/web/reply"
	"tuval/web/show"
)

// clockShown is how many rentals the clock has buttons for.
const clockShown = 30

// devClock is the clock of development.
func (s *site) devClock(w http.ResponseWriter, r *http.Request) error {
	return s.showClock(w, r, http.StatusOK, views.DevClockPage{})
}

func (s *site) showClock(w http.ResponseWriter, r *http.Request, status int, p views.DevClockPage) error {
	all, now, err := s.Market.Rentals(r.Context(), "", 0, clockShown)
	if err != nil {
		return err
	}
	p.Page, p.Now, p.Steps = s.page(r), views.MomentOf(now), show.ClockSteps()
	for _, one := range all {
		if line, waits := show.ClockRental(one, now); waits {
			p.Rentals = append(p.Rentals, line)
		}
	}
	reply.HTML(w, r, status, views.DevClock(p))
	return nil
}

// moveClock makes everything older, by a length or to the next deadline of a
// rental, and says what that did.
func (s *site) moveClock(w http.ResponseWriter, r *http.Request) error {
	f, err := form.Read(w, r)
	if err != nil {
		return err
	}
	before, now, err := s.Market.Rentals(r.Context(), "", 0, clockShown)
	if err != nil {
		return err
	}
	c := &form.Check{}
	key := form.Text(c, f, "rental", asIs)
	var by time.Duration
	if key != "" {
		by, err = toDeadline(before, key, now)
	} else {
		by = form.Text(c, f, "by", readLength)
		err = c.Err()
	}
	if err != nil {
		return s.clockRefused(w, r, f, err)
	}
	if err := age.Move(r.Context(), s.Pool, by); err != nil {
		return err
	}
	after, _, err := s.Market.Rentals(r.Context(), "", 0, clockShown)
	if err != nil {
		return err
	}
	for _, line := range show.Moved(before, after, by) {
		s.tell(r.Context(), "success", line)
	}
	reply.Found(w, r, "/dev/clock")
	return nil
}

func (s *site) clockRefused(w http.ResponseWriter, r *http.Request, f form.Form, err error) error {
	refusal := fault.As(err)
	if refusal.Kind != fault.Invalid && refusal.Kind != fault.Conflict {
		return err
	}
	_, status := reply.Note(w, r, err)
	field := refusal.Field
	if field != "by" {
		field = ""
	}
	return s.showClock(w, r, status, views.DevClockPage{By: f.Typed("by"), Problems: []views.Problem{{Field: field, Text: refusal.Msg}}})
}

// toDeadline is how long it is to the next deadline of a rental, and a second
// more.
func toDeadline(all []rental.Rental, key string, now time.Time) (time.Duration, error) {
	for _, one := range all {
		if one.Key != key {
			continue
		}
		if _, at, waits := show.Deadline(one); waits && at.After(now) {
			return at.Sub(now) + time.Second, nil
		}
		return 0, fault.New(fault.Conflict, "This rental waits for nothing any more.")
	}
	return 0, fault.New(fault.Conflict, "There is no such rental among the newest.")
}

// readLength reads a length of time: 90s, 45m, 36h, 1h30m or 7d.
func readLength(s string) (time.Duration, error) {
	s = strings.TrimSpace(s)
	d, err := time.ParseDuration(s)
	if days, isDays := strings.CutSuffix(s, "d"); isDays {
		var n int
		n, err = strconv.Atoi(days)
		if err == nil && n > 0 && n <= int(age.Most/(24*time.Hour)) {
			d = time.Duration(n) * 24 * time.Hour
		}
	}
	if err != nil || d <= 0 || d > age.Most {
		return 0, fault.Field("by", fmt.Sprintf("The length must be above nothing and at most %s, as in 90s, 45m, 36h or 7d.", show.Duration(age.Most)))
	}
	return d, nil
}
