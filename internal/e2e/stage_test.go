package e2e

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"path"
	"testing"

	"tuval/internal/market"
	"tuval/internal/stripesim"
)

// The scenery of a test: rentals of the tab's person, made by the requests that
// the pages would send, from a page of the site.

// send posts a form as the pages' scripts do and returns where the answer leads.
// A field "image" is a file, in base64.
func (b *tab) send(to string, fields map[string]string) string {
	b.t.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		b.t.Fatal(err)
	}
	return get[string](b, `(async (to, fields) => {
		const body = "image" in fields ? new FormData() : new URLSearchParams();
		for (const [name, value] of Object.entries(fields)) {
			if (name !== "image") body.set(name, value);
			else body.set(name, new Blob([Uint8Array.from(atob(value), (c) => c.charCodeAt(0))]), fields.filename ?? "picture.png");
		}
		const answer = await fetch(to, { method: "POST", body, headers: { "HX-Request": "true" } });
		if (!answer.ok) {
			const page = new DOMParser().parseFromString(await answer.text(), "text/html");
			throw new Error(to + ": " + answer.status + " " + (page.querySelector("[role=alert]") ?? page.body).textContent.slice(0, 300));
		}
		return answer.headers.get("HX-Redirect") ?? "";
	})("`+to+`", `+string(body)+`)`)
}

// held is the key of a new hold.
func (b *tab) held(r rect) string {
	b.t.Helper()
	at := b.send("/holds", map[string]string{"x": itoa(r.x), "y": itoa(r.y), "w": itoa(r.w), "h": itoa(r.h), "request_id": rand.Text()})
	return path.Base(at)
}

// paying is a hold with its payment page opened, and that page's session.
func (b *tab) paying(r rect, weeks string) (key, session string) {
	b.t.Helper()
	key = b.held(r)
	at := b.send("/rentals/"+key+"/checkout", map[string]string{"weeks": weeks, "email": "buyer@example.com"})
	return key, path.Base(at)
}

// paid is a rental that waits for its picture.
func (b *tab) paid(r rect, weeks string) string {
	b.t.Helper()
	key, session := b.paying(r, weeks)
	if _, err := b.site.sim.Pay(b.t.Context(), session, stripesim.Payment{}); err != nil {
		b.t.Fatal(err)
	}
	b.js(`fetch("/rentals/` + key + `/return")`) // asks, sooner than the webhook tells
	b.site.becomes(`SELECT state = 'paid' FROM rentals WHERE key = $1`, key)
	return key
}

// words are what goes with a picture.
type words struct{ link, title, alt, filename string }

func someWords() words {
	return words{"https://shop.example/", "Four quarters", "Red, green, blue and yellow", "picture.png"}
}

// sent is a rental whose picture waits for its review.
func (b *tab) sent(r rect, w words) string {
	b.t.Helper()
	key := b.paid(r, "2")
	b.submit(key, r, w)
	return key
}

func (b *tab) submit(key string, r rect, w words) {
	b.t.Helper()
	b.send("/rentals/"+key+"/creative", map[string]string{
		"image": base64.StdEncoding.EncodeToString(encoded(b.t, quartered(r.w*10, r.h*10))), "filename": w.filename,
		"link": w.link, "title": w.title, "alt": w.alt, "fit": "cover", "request_id": rand.Text(),
	})
}

// live is a rental on the canvas.
func (b *tab) live(r rect, w words) string {
	b.t.Helper()
	key := b.sent(r, w)
	b.site.decide(key, "")
	return key
}

// decide approves the picture that waits, or rejects it for a reason.
func (s *site) decide(key, reason string) {
	s.t.Helper()
	d := market.Decision{By: adminEmail, Approve: reason == "", Reason: reason}
	err := s.pool.QueryRow(s.t.Context(), `SELECT c.key, c.revision FROM creatives c JOIN rentals r ON r.id = c.rental_id
		WHERE r.key = $1 AND c.state = 'pending'`, key).Scan(&d.Creative, &d.Revision)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.market.Decide(s.t.Context(), d); err != nil {
		s.t.Fatal(err)
	}
}

func encoded(t *testing.T, img image.Image) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, img); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}
