package market_test

import (
	"testing"
	"time"

	"tuval/internal/mail"
)

// Mails about a rental name the picture that shows, so that a buyer of two
// knows which is meant.
func TestMailsNameThePicture(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	b.ended(rect(1, 1, 6, 4), time.Hour)
	var title string
	w.must(w.pool.QueryRow(w.ctx(), `SELECT title FROM creatives WHERE state = 'approved'`).Scan(&title))
	if n := w.count(`SELECT count(*) FROM mails WHERE kind = 'ended' AND text_body LIKE '%' || $1 || '%'`, title); n != 1 || title == "" {
		t.Errorf("%d mails of the end name %q", n, title)
	}
}

// A mail that waits for its server while what it says changes is not sent: the
// end that it tells of was moved.
func TestMailsAboutAnOldEndAreNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.live(rect(1, 1, 6, 4), 2)
	w.age(time.Until(*r.EndsAt) - 20*time.Hour)
	w.must(w.m.Remind(w.ctx(), r.ID, "24 hours to the end"))
	if n := w.mailsOf("ends soon"); n != 1 {
		t.Fatalf("%d reminders", n)
	}
	w.pay(b.extend(r.Key, 1))
	w.deliver()
	var id int64
	w.must(w.pool.QueryRow(w.ctx(), `SELECT id FROM mails WHERE kind = 'ends soon'`).Scan(&id))
	if outcome, err := mail.SendOne(w.ctx(), w.pool, mail.Mailbox{}, id); err != nil || outcome != mail.Dropped {
		t.Errorf("the reminder of the old end: %s, %v", outcome, err)
	}
	w.must(w.pool.QueryRow(w.ctx(), `SELECT id FROM mails WHERE kind = 'extended'`).Scan(&id))
	if outcome, err := mail.SendOne(w.ctx(), w.pool, mail.Mailbox{}, id); err != nil || outcome != mail.Sent {
		t.Errorf("the receipt: %s, %v", outcome, err)
	}
}
