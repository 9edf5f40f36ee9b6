package mailtext

import (
	"fmt"
	"time"

	"tuval/internal/grid"
	"tuval/internal/money"
)

// Missing says why a paid rental has no approved picture.
type Missing int

// What can be missing.
const (
	NothingSent Missing = iota // no picture was ever sent
	InReview                   // the latest picture waits for its review
	WasRejected                // the latest picture was rejected
)

// Upload is what the reminder before the approval window closes needs.
type Upload struct {
	RentalURL string
	Rect      grid.Rect
	Missing   Missing
	Title     string      // of the latest picture, if there is one
	Reason    string      // why the latest picture was rejected, for WasRejected
	ApproveBy time.Time   // when the approval window closes
	Refund    money.Money // what comes back in full then
	Last      bool        // no other reminder follows
}

// UploadReminder says that no picture is approved yet, what is missing, until
// when, and that the money comes back otherwise. It names the instant and not
// how long that is, since a mail may be late.
func UploadReminder(u Upload) Mail {
	l := letter{
		Subject: reminderSubject(u.Last, "your picture is missing, deadline "+day(u.ApproveBy)),
		Heading: "Your place is still empty",
		Lead:    []string{"Your blocks are paid and kept for you, but you have not sent a picture yet. A person looks at each picture before it is shown: please leave us some time for that."},
		Facts:   []fact{{"Place", place(u.Rect)}, {"Deadline", at(u.ApproveBy)}, {"Refund otherwise", u.Refund.String()}},
		Action:  action{"Add your picture", u.RentalURL},
		After:   []string{"If no picture is approved by the deadline, the rental is cancelled, its blocks are free again, and the full amount is refunded by itself."},
	}
	switch u.Missing {
	case NothingSent:
	case InReview:
		l.Subject = reminderSubject(u.Last, "your picture is in review, deadline "+day(u.ApproveBy))
		l.Heading = "Your picture is still in review"
		l.Lead = []string{fmt.Sprintf("%s waits for its review. It is our turn, and there is nothing you have to do; we write as soon as it is decided.", sentence(quoted(u.Title)))}
		l.Action.Label = "See your rental"
	case WasRejected:
		l.Subject = reminderSubject(u.Last, "your picture needs a change, deadline "+day(u.ApproveBy))
		l.Heading = "Your picture still needs a change"
		l.Lead = []string{fmt.Sprintf("We could not approve %s, and no other picture has come since. The reason was:", quoted(u.Title))}
		l.Quote = u.Reason
		l.Action.Label = "Change it and send it again"
	}
	return l.mail()
}

func reminderSubject(last bool, about string) string {
	if last {
		return "Last reminder: " + about
	}
	return "Reminder: " + about
}

// Ending is what the reminder before the end needs.
type Ending struct {
	RentalURL string
	Title     string // of the picture shown
	Rect      grid.Rect
	EndsAt    time.Time
	RenewBy   time.Time   // the end of the reservation that follows the end
	PerWeek   money.Money // today's price of a week; of amount 0 when it is not to be named
	Last      bool        // no other reminder follows before the end
}

// EndsSoon says when a live rental ends and how to extend it.
func EndsSoon(e Ending) Mail {
	return letter{
		Subject: reminderSubject(e.Last, "ends on "+day(e.EndsAt)+": "+quoted(e.Title)),
		Heading: "Your rental comes to its end",
		Lead: []string{
			fmt.Sprintf("%s leaves the canvas at the end of the time you paid for. If it is to stay, extend the rental before: the weeks are added to the end, so extending early loses nothing.", sentence(quoted(e.Title))),
		},
		Facts:  append([]fact{{"Place", place(e.Rect)}, {"Ends", at(e.EndsAt)}}, priceFact(e.PerWeek)...),
		Action: action{"Extend it", e.RentalURL},
		After:  []string{"You need not do anything to let it end. After the end only you can take the blocks until " + at(e.RenewBy) + ", by renewing the rental; then they are free for everybody."},
	}.mail()
}

func priceFact(perWeek money.Money) []fact {
	if perWeek.Amount == 0 {
		return nil
	}
	return []fact{{"Present price", perWeek.String() + " a week"}}
}
