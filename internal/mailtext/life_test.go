package mailtext_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"tuval/internal/mailtext"
)

const (
	page   = "https://tuval.example/rentals/abc"
	canvas = "https://tuval.example/"
)

// ofTheLife writes the mails about what time, money and people do to a rental,
// in every branch.
func ofTheLife(words string) map[string]mailtext.Mail {
	all := map[string]mailtext.Mail{}
	for _, more := range []func(string) map[string]mailtext.Mail{ofMoney, ofTime, ofPeople} {
		for name, m := range more(words) {
			all[name] = m
		}
	}
	return all
}

func instant() time.Time { return time.Date(2027, 3, 22, 0, 30, 0, 0, berlin()) }

func ofMoney(words string) map[string]mailtext.Mail {
	at := instant()
	failed := mailtext.Failure{RentalURL: page, CanvasURL: canvas, Receipt: words, Rect: rect(), Amount: usd(960000), Purpose: mailtext.ForNew, EndsAt: at}
	extension, ended, gone, renewal, late := failed, failed, failed, failed, failed
	extension.Purpose, ended.Purpose, gone.Purpose = mailtext.ForExtension, mailtext.ForExtension, mailtext.ForExtension
	ended.Ended, ended.RenewBy, gone.Ended = true, at.Add(48*time.Hour), true
	renewal.Purpose, renewal.RenewBy, late.Purpose = mailtext.ForRenewal, at.Add(48*time.Hour), mailtext.ForRenewal
	longer := mailtext.Extension{RentalURL: page, Receipt: words, Rect: rect(), Weeks: 2, Amount: usd(480000), PaidAt: at, OldEnd: at, NewEnd: at.Add(336 * time.Hour)}
	back, out := longer, longer
	back.Returned, out.Hidden = true, true
	again := mailtext.Renewal{RentalURL: page, Receipt: words, Rect: rect(), Weeks: 1, Amount: usd(240000), PaidAt: at, LiveFrom: at, EndsAt: at.Add(168 * time.Hour)}
	unseen := again
	unseen.Hidden = true
	shorter := mailtext.Shortening{
		RentalURL: page, Receipt: words, Rect: rect(), Purpose: mailtext.ForExtension, Weeks: 2, Refund: usd(480000), Reason: words,
		OldEnd: at.Add(336 * time.Hour), NewEnd: at, RenewBy: at.Add(48 * time.Hour),
	}
	over := shorter
	over.Purpose, over.Ended = mailtext.ForRenewal, true
	part := mailtext.Repayment{RentalURL: page, Receipt: words, Rect: rect(), Amount: usd(50000), Left: usd(910000), Reason: words}
	rest, closed := part, part
	rest.Left, closed.Closed = usd(0), true
	goesBack := func(cause mailtext.RefundCause) mailtext.Mail {
		return mailtext.Refunded(mailtext.Refund{RentalURL: page, CanvasURL: canvas, Receipt: words, Rect: rect(), Amount: usd(960000), Cause: cause})
	}
	return map[string]mailtext.Mail{
		"not paid": mailtext.NotPaid(failed), "not extended": mailtext.NotPaid(extension), "not extended, ended": mailtext.NotPaid(ended),
		"not extended, gone": mailtext.NotPaid(gone), "not renewed": mailtext.NotPaid(renewal), "not renewed, gone": mailtext.NotPaid(late),
		"extended": mailtext.Extended(longer), "extended, back": mailtext.Extended(back), "extended, hidden": mailtext.Extended(out),
		"renewed": mailtext.Renewed(again), "renewed, hidden": mailtext.Renewed(unseen),
		"shortened": mailtext.Shortened(shorter), "shortened, over": mailtext.Shortened(over),
		"repaid": mailtext.Repaid(part), "repaid, all": mailtext.Repaid(rest), "repaid, closed": mailtext.Repaid(closed),
		"too late, closed": goesBack(mailtext.RentalClosed), "too late, extension": goesBack(mailtext.LateExtension),
		"too late, renewal": goesBack(mailtext.LateRenewal),
	}
}

func ofTime(words string) map[string]mailtext.Mail {
	at := instant()
	upload := mailtext.Upload{RentalURL: page, Rect: rect(), Title: words, Reason: words, ApproveBy: at, Refund: usd(960000)}
	waiting, rejected := upload, upload
	waiting.Missing, rejected.Missing, rejected.Last = mailtext.InReview, mailtext.WasRejected, true
	ending := mailtext.Ending{RentalURL: page, Title: words, Rect: rect(), EndsAt: at, RenewBy: at.Add(48 * time.Hour), PerWeek: usd(240000)}
	last := ending
	last.Last, last.PerWeek = true, usd(0)
	end := mailtext.End{RentalURL: page, Title: words, Rect: rect(), EndedAt: at, RenewBy: at.Add(48 * time.Hour), PerWeek: usd(240000)}
	finish := mailtext.Finish{RentalURL: page, CanvasURL: canvas, Title: words, Rect: rect(), EndedAt: at, FreeSince: at.Add(48 * time.Hour)}
	untold := finish
	untold.Untold = true
	return map[string]mailtext.Mail{
		"upload": mailtext.UploadReminder(upload), "upload, waiting": mailtext.UploadReminder(waiting), "upload, rejected": mailtext.UploadReminder(rejected),
		"live":      mailtext.Live(mailtext.Showing{RentalURL: page, Title: words, Rect: rect(), LiveFrom: at, EndsAt: at.Add(168 * time.Hour)}),
		"ends soon": mailtext.EndsSoon(ending), "ends soon, last": mailtext.EndsSoon(last),
		"ended": mailtext.Ended(end), "renewal closes": mailtext.RenewalCloses(end),
		"over": mailtext.Over(finish), "over, untold": mailtext.Over(untold),
	}
}

func ofPeople(words string) map[string]mailtext.Mail {
	back := usd(960000)
	removal := mailtext.Removal{RentalURL: page, Rect: rect(), Reason: words, RemovedAt: instant(), Receipt: words}
	refunded := removal
	refunded.Refund = &back
	hiding := mailtext.Hiding{RentalURL: page, Title: words, Rect: rect(), Reason: words, EndsAt: instant()}
	early := hiding
	early.EndsAt, early.Reason = time.Time{}, ""
	return map[string]mailtext.Mail{
		"removed": mailtext.Removed(removal), "removed, refunded": mailtext.Removed(refunded),
		"hidden": mailtext.Hidden(hiding), "hidden, early": mailtext.Hidden(early),
		"unhidden": mailtext.Unhidden(hiding), "unhidden, early": mailtext.Unhidden(early),
	}
}

func TestWhatTheMailsOfTheLifeSay(t *testing.T) {
	all := ofTheLife("Blue whale")
	for _, c := range []struct{ kind, want string }{
		{"not paid", "free again, for you as for everybody"},
		{"not paid", "Not charged: 9,600.00 USD"},
		{"not extended", "goes on as it was and ends on Sun 21 Mar 2027, 23:30 UTC"},
		{"not extended, ended", "ended on Sun 21 Mar 2027, 23:30 UTC. Until Tue 23 Mar 2027, 23:30 UTC only you"},
		{"not extended, gone", "its blocks are free again"},
		{"not renewed", "you can try again until then"},
		{"not renewed, gone", "is over, and its blocks are free again"},
		{"extended", "Added: 2 weeks Old end: Sun 21 Mar 2027, 23:30 UTC New end: Sun 4 Apr 2027, 23:30 UTC Amount: 4,800.00 USD"},
		{"extended, back", "counted from that end all the same"},
		{"extended, hidden", "stays hidden"},
		{"renewed", "Time: 1 week Live from: Sun 21 Mar 2027, 23:30 UTC Until: Sun 28 Mar 2027, 23:30 UTC"},
		{"renewed, hidden", "stays hidden"},
		{"shortened", "The extension of this rental was refunded in full"},
		{"shortened", "New end: Sun 21 Mar 2027, 23:30 UTC"},
		{"shortened", "> Blue whale"},
		{"shortened, over", "renewal of this rental was refunded in full. Without its weeks the rental is over"},
		{"shortened, over", "until Tue 23 Mar 2027, 23:30 UTC, by renewing"},
		{"repaid", "Refund: 500.00 USD"},
		{"repaid", "Left of the payment: 9,100.00 USD"},
		{"repaid", "> Blue whale"},
		{"repaid, all", "That is all of it"},
		{"too late, closed", "was closed already"},
		{"too late, extension", "after the rental had ended"},
		{"too late, renewal", "after the time in which only you could renew"},
		{"upload", "you have not sent a picture yet"},
		{"upload", "Deadline: Sun 21 Mar 2027, 23:30 UTC Refund otherwise: 9,600.00 USD"},
		{"upload, waiting", "“Blue whale” waits for its review"},
		{"upload, rejected", "could not approve “Blue whale”, and no other picture has come since. The reason was: > Blue whale"},
		{"live", "Live since: Sun 21 Mar 2027, 23:30 UTC Until: Sun 28 Mar 2027, 23:30 UTC"},
		{"ends soon", "Ends: Sun 21 Mar 2027, 23:30 UTC Present price: 2,400.00 USD a week"},
		{"ends soon", "Extend it: https://tuval.example/rentals/abc"},
		{"ended", "until Tue 23 Mar 2027, 23:30 UTC only you can take them"},
		{"ended", "Renew it: https://tuval.example/rentals/abc"},
		{"renewal closes", "kept for you until Tue 23 Mar 2027, 23:30 UTC"},
		{"over", "Free since: Tue 23 Mar 2027, 23:30 UTC"},
		{"over, untold", "We are sorry"},
		{"removed", "Nothing is refunded."},
		{"removed", "The reason: > Blue whale"},
		{"removed, refunded", "Refund: 9,600.00 USD"},
		{"hidden", "the time you paid for runs on meanwhile"},
		{"hidden", "The reason: > Blue whale"},
		{"unhidden", "is shown for all the time of your rental that is left"},
	} {
		text := strings.Join(strings.Fields(all[c.kind].Text), " ")
		if !strings.Contains(text, c.want) {
			t.Errorf("%s does not say %q:\n%s", c.kind, c.want, all[c.kind].Text)
		}
	}
}

// What is not so is not said.
func TestWhatTheMailsOfTheLifeKeepTo(t *testing.T) {
	all := ofTheLife("Blue whale")
	for kind, not := range map[string]string{
		"removed, refunded": "Nothing is refunded", "upload, waiting": "> Blue whale", "upload": "> Blue whale",
		"over": "sorry", "ends soon, last": "price", "hidden, early": "reason", "repaid, closed": "goes on", "repaid, all": "part",
		"too late, closed": "somebody else", "not renewed, gone": "try again", "extended, hidden": "stays where it is",
		"shortened, over": "stays as it is", "too late, extension": "somebody else",
	} {
		if m := all[kind]; m.Text == "" || strings.Contains(m.Text, not) {
			t.Errorf("%s says %q:\n%s", kind, not, m.Text)
		}
	}
}

// A mail may be late by hours: it names instants, never how far away they
// are. And each leads to its rental, says where on the canvas that is, and can
// be told from the others in a list.
func TestEachMailStandsForItself(t *testing.T) {
	subjects := map[string][]string{}
	for kind, m := range ofTheLife("Blue whale") {
		subjects[m.Subject] = append(subjects[m.Subject], strings.Split(kind, ",")[0])
		for _, part := range []string{m.Subject, m.Text} {
			if s := regexp.MustCompile(`(?i)tomorrow|today,|yesterday|in \d+ (days|hours)|\d+ (days|hours) left`).FindString(part); s != "" {
				t.Errorf("%s says %q", kind, s)
			}
		}
		for _, part := range []string{m.Text, m.HTML} {
			if !strings.Contains(part, page) {
				t.Errorf("%s does not lead to its rental", kind)
			}
			if !strings.Contains(part, "6 × 4 blocks (60 × 40 px) at column 41, row 13") {
				t.Errorf("%s does not say where", kind)
			}
		}
	}
	for subject, kinds := range subjects {
		for _, kind := range kinds[1:] {
			if kind != kinds[0] {
				t.Errorf("%q is of %v", subject, kinds)
			}
		}
	}
}

// The longest title leaves the instant in the subject.
func TestSubjectsKeepTheirInstant(t *testing.T) {
	all := ofTheLife(strings.Repeat("Ж", 80))
	for kind, want := range map[string]string{
		"ends soon, last": "21 Mar 2027 (UTC)", "renewal closes": "Tue 23 Mar 2027, 23:30 UTC", "upload, rejected": "21 Mar 2027 (UTC)",
	} {
		if s := all[kind].Subject; !strings.Contains(s, want) {
			t.Errorf("%s: %q", kind, s)
		}
	}
}

// Letters without a title are whole sentences all the same.
func TestPicturesWithoutATitle(t *testing.T) {
	for kind, want := range map[string]string{
		"ends soon": "Your picture leaves the canvas", "upload, waiting": "Your picture waits", "live": "Your picture appeared",
		"over": "Your picture has left", "ended": "and your picture has left",
	} {
		text := strings.Join(strings.Fields(ofTheLife("")[kind].Text), " ")
		if !strings.Contains(text, want) {
			t.Errorf("%s does not say %q:\n%s", kind, want, text)
		}
	}
}
