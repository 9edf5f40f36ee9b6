package board

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"tuval/internal/grid"
	"tuval/internal/rental"
)

// State is what an area is to a visitor.
type State string

// The states of an area. Blocks in no area are free.
const (
	Held     State = "held"
	Taken    State = "taken"
	Live     State = "live"
	Reserved State = "reserved"
	Blocked  State = "blocked"
)

// Area is a rect of the canvas that is not free. Only live areas carry a
// picture, its words and its link.
type Area struct {
	ID string `json:"id,omitempty"` // the public id; none for blocked areas
	grid.Rect
	State     State      `json:"state"`
	Until     *time.Time `json:"until,omitempty"` // when this state ends by itself, if that is known
	Title     string     `json:"title,omitempty"`
	Alt       string     `json:"alt,omitempty"`
	LinkHost  string     `json:"link_host,omitempty"`
	Link      string     `json:"-"`
	Picture   string     `json:"-"` // content hash, 1x
	Picture2x string     `json:"-"`
	LiveFrom  *time.Time `json:"-"`
}

// Counts are blocks by what they are; they sum to all of the grid.
type Counts struct {
	Free     int `json:"free"`
	Held     int `json:"held"`
	Taken    int `json:"taken"` // paid or live
	Reserved int `json:"reserved"`
	Blocked  int `json:"blocked"`
}

// Snapshot is the canvas at one instant. It is shared: nobody changes it.
type Snapshot struct {
	Revision string
	Areas    []Area
	Counts   Counts
	Taken    grid.Taken // blocks that are not free
	At       time.Time  // the database's
	live     string     // names the content of the picture
	changes  *time.Time // the next moment at which time alone changes it
	seen     string     // the database's snapshot it was read in
	shifts   int64
}

// row is a rental as the board reads it, with its approved picture.
type row struct {
	rental.Rental
	area Area
}

// areaOf is what the rental is to a visitor at now; false when its blocks are
// free.
func (r row) areaOf(now time.Time, terms rental.Terms) (Area, bool) {
	seen, a := r.At(now, terms), r.area
	a.ID, a.Rect, a.LiveFrom = r.PublicID, r.Rect, r.LiveFrom
	switch seen.State {
	case rental.Closed:
		return a, false
	case rental.Held, rental.Paying:
		a.State, a.Until = Held, seen.LeasedUntil
	case rental.Paid:
		a.State, a.Until = Taken, seen.EndsAt
	case rental.Live:
		a.State, a.Until = Live, seen.EndsAt
		if !seen.Visible(now) {
			a.State = Taken
		}
	case rental.Ended:
		a.State, a.Until = Reserved, seen.LeasedUntil
	}
	if a.State != Live {
		a.Title, a.Alt, a.Link, a.LinkHost, a.Picture, a.Picture2x = "", "", "", "", "", ""
	}
	return a, true
}

// finish counts, marks and names the content.
func (s *Snapshot) finish() {
	live := sha256.New()
	for _, a := range s.Areas {
		s.Taken.Mark(a.Rect)
		s.Counts.add(a)
		if a.State == Live {
			live.Write([]byte(a.String() + a.Picture))
		}
	}
	s.Counts.Free = grid.Blocks - s.Counts.Held - s.Counts.Taken - s.Counts.Reserved - s.Counts.Blocked
	s.live = hex.EncodeToString(live.Sum(nil)[:10])
	all := sha256.New()
	// The areas are plain values: they always encode.
	_ = json.NewEncoder(all).Encode([]any{s.Areas, s.live})
	s.Revision = hex.EncodeToString(all.Sum(nil)[:10])
}

func (c *Counts) add(a Area) {
	switch a.State {
	case Held:
		c.Held += a.Area()
	case Taken, Live:
		c.Taken += a.Area()
	case Reserved:
		c.Reserved += a.Area()
	case Blocked:
		c.Blocked += a.Area()
	}
}

// soon remembers an instant that lies ahead as a moment of change.
func (s *Snapshot) soon(at *time.Time) {
	if at != nil && at.After(s.At) && (s.changes == nil || at.Before(*s.changes)) {
		s.changes = at
	}
}
