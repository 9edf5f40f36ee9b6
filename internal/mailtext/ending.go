package mailtext

import (
	"fmt"
	"time"

	"tuval/internal/grid"
	"tuval/internal/money"
)

// Showing is what the mail about a picture that went live needs.
type Showing struct {
	RentalURL string
	Title     string
	Rect      grid.Rect
	LiveFrom  time.Time
	EndsAt    time.Time
}

// Live says that a picture went live at its chosen time. One that goes live
// with its approval is told of by Approved.
func Live(s Showing) Mail {
	return letter{
		Subject: "Live: " + quoted(s.Title),
		Heading: "Your picture is on the canvas",
		Lead:    []string{fmt.Sprintf("%s appeared at the time you chose. Everybody sees it now.", sentence(quoted(s.Title)))},
		Facts:   []fact{{"Place", place(s.Rect)}, {"Live since", at(s.LiveFrom)}, {"Until", at(s.EndsAt)}},
		Action:  action{"See your rental", s.RentalURL},
		After:   []string{replaceNote},
	}.mail()
}

const replaceNote = "You can replace the picture or the link at any time: the present one stays up until the new one is approved."

// End is what the mails after the end of a rental need.
type End struct {
	RentalURL string
	Title     string // of the picture that was shown
	Rect      grid.Rect
	EndedAt   time.Time
	RenewBy   time.Time   // the end of the reservation
	PerWeek   money.Money // today's price of a week; of amount 0 when it is not to be named
}

// Ended says that a rental has ended and until when it can be renewed.
func Ended(e End) Mail {
	return letter{
		Subject: "Ended: " + quoted(e.Title),
		Heading: "Your rental has ended",
		Lead: []string{
			fmt.Sprintf("The time you paid for is over, and %s has left the canvas. Thank you for having been here.", quoted(e.Title)),
			"Its blocks are kept for you a while longer: until " + at(e.RenewBy) + " only you can take them, by renewing the rental. The picture then returns at once, without another review.",
		},
		Facts:  endFacts(e),
		Action: action{"Renew it", e.RentalURL},
		After:  []string{"You need not do anything to let it go."},
	}.mail()
}

// RenewalCloses says that the reservation after the end is nearly over.
func RenewalCloses(e End) Mail {
	return letter{
		Subject: "Last reminder: renew until " + at(e.RenewBy) + ": " + quoted(e.Title),
		Heading: "Your blocks are soon free for everybody",
		Lead: []string{
			fmt.Sprintf("The rental of %s has ended, and its blocks are kept for you until %s. If you renew it before, the picture returns at once, without another review.", quoted(e.Title), at(e.RenewBy)),
		},
		Facts:  endFacts(e),
		Action: action{"Renew it", e.RentalURL},
		After:  []string{"After that anybody can take the blocks. You need not do anything to let them go."},
	}.mail()
}

func endFacts(e End) []fact {
	return append([]fact{{"Place", place(e.Rect)}, {"Ended", at(e.EndedAt)}, {"Renew until", at(e.RenewBy)}}, priceFact(e.PerWeek)...)
}

// Finish is what the mail about a rental that is wholly over needs.
type Finish struct {
	RentalURL string
	CanvasURL string
	Title     string // of the picture that was shown
	Rect      grid.Rect
	EndedAt   time.Time
	FreeSince time.Time // the end of the reservation
	Untold    bool      // nobody was told of the end in time to renew
}

// Over says that the time of a rental and the reservation after it are over.
// After an outage in which both passed it is the one mail about them.
func Over(f Finish) Mail {
	l := letter{
		Subject: "Over: " + quoted(f.Title),
		Heading: "Your rental is over",
		Lead:    []string{fmt.Sprintf("The time you paid for has ended, and so has the time in which only you could renew. %s has left the canvas, and its blocks are free for everybody again.", sentence(quoted(f.Title)))},
		Facts:   append([]fact{{"Place", place(f.Rect)}, {"Ended", at(f.EndedAt)}, {"Free since", at(f.FreeSince)}}, optional(fact{"Rental", f.RentalURL})...),
		Action:  action{"Choose a place again", f.CanvasURL},
	}
	if f.Untold {
		l.Lead = append(l.Lead, "We should have told you in time to renew, and could not: our service was down. We are sorry. If the blocks are still free you can take them again.")
	}
	return l.mail()
}
