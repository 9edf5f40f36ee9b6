package views_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"tuval/views"
)

// pages renders every page of this package from its struct; fill sets up the
// struct before.
func pages(fill func(any)) map[string]templ.Component {
	all := map[string]templ.Component{}
	add(all, fill, "login", func(p views.LoginPage) templ.Component { return views.Login(p) })
	add(all, fill, "link", func(p views.LoginLinkPage) templ.Component { return views.LoginLink(p) })
	add(all, fill, "private", func(p views.PrivatePage) templ.Component { return views.Private(p) })
	add(all, fill, "account", func(p views.AccountPage) templ.Component { return views.Account(p) })
	add(all, fill, "areas", func(p views.AreasPage) templ.Component { return views.Areas(p) })
	add(all, fill, "area", func(p views.AreaPage) templ.Component { return views.Area(p) })
	add(all, fill, "about", func(p views.AboutPage) templ.Component { return views.About(p) })
	add(all, fill, "fault", func(p views.FaultPage) templ.Component { return views.Fault(p) })
	add(all, fill, "clock", func(p views.DevClockPage) templ.Component {
		p.Problems = nil
		return views.DevClock(p)
	})
	add(all, fill, "mailbox", func(p views.DevMailPage) templ.Component { return views.DevMailList(p) })
	add(all, fill, "mail", func(p views.DevMailMessagePage) templ.Component { return views.DevMailMessage(p) })
	add(all, fill, "admin login", func(p views.AdminLoginPage) templ.Component { return views.AdminLogin(p) })
	add(all, fill, "reviews", func(p views.ReviewsPage) templ.Component { return views.Reviews(p) })
	add(all, fill, "rentals", func(p views.RentalsPage) templ.Component { return views.Rentals(p) })
	add(all, fill, "admin rental", func(p views.AdminRentalPage) templ.Component {
		for i, name := range []string{"refund", "close"}[:len(p.Actions)] {
			p.Actions[i].Name, p.Actions[i].Problems = name, nil
		}
		return views.AdminRental(p)
	})
	add(all, fill, "payments", func(p views.PaymentsPage) templ.Component { return views.Payments(p) })
	add(all, fill, "anomalies", func(p views.AnomaliesPage) templ.Component { return views.Anomalies(p) })
	add(all, fill, "blocked", func(p views.BlockedPage) templ.Component {
		for i := range p.Form.Problems {
			p.Form.Problems[i].Field = "note"
		}
		return views.Blocked(p)
	})
	add(all, fill, "admins", func(p views.AdminsPage) templ.Component { return views.Admins(p) })
	for _, phase := range []views.Phase{
		views.PhaseHeld, views.PhasePaying, views.PhaseConfirming, views.PhaseProcessing, views.PhaseAwaitingImage, views.PhaseInReview,
		views.PhaseRejected, views.PhaseScheduled, views.PhaseLive, views.PhaseHidden, views.PhaseEnded, views.PhaseClosed,
	} {
		add(all, fill, "rental "+string(phase), func(p views.RentalPage) templ.Component {
			p.Phase = phase
			switch phase { // what is bought first and what is bought later never stand together
			case views.PhaseHeld, views.PhasePaying, views.PhaseConfirming, views.PhaseProcessing:
				p.More, p.Access = nil, nil
			default:
				p.Checkout, p.Paying = nil, nil
				if p.Access != nil {
					p.Access.Confirmed = false // the form with the address is there
				}
			}
			return views.Rental(p)
		})
	}
	return all
}

func add[P any](all map[string]templ.Component, fill func(any), name string, page func(P) templ.Component) {
	var p P
	fill(&p)
	all[name] = page(p)
}

func TestPagesWithNothingOnThemAreSound(t *testing.T) {
	for name, c := range pages(func(any) {}) {
		t.Run(name, func(t *testing.T) { render(t, c).sound(t) })
	}
}

func TestFullPagesAreSound(t *testing.T) {
	for name, c := range pages(func(p any) { fill(reflect.ValueOf(p), "words") }) {
		t.Run(name, func(t *testing.T) { render(t, c).sound(t) })
	}
}

// fill puts the words into every string there is, one element into every
// slice, and truth into every bool: all branches that want more are taken. Ids
// become different from each other.
func fill(v reflect.Value, words string) {
	n := 0
	filler{words: words, next: func() int { n++; return n }}.fill(v, "")
}

type filler struct {
	words string
	next  func() int
}

func (f filler) fill(v reflect.Value, field string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		f.fill(v.Elem(), field)
	case reflect.Struct:
		if m, ok := v.Addr().Interface().(*views.Moment); ok {
			*m = at(0)
			return
		}
		for i := range v.NumField() {
			f.fill(v.Field(i), v.Type().Field(i).Name)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Interface {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			f.fill(v.Index(0), field)
			f.fill(v.Index(1), field)
		}
	case reflect.String:
		v.SetString(f.text(field))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.next()%50 + 1))
	case reflect.Bool:
		v.SetBool(true)
	}
}

// text is the words, but for the strings that handlers make, not people.
func (f filler) text(field string) string {
	switch field {
	case "ID", "CreativeID", "RentalID", "PublicID":
		return fmt.Sprint("id", f.next())
	case "Action":
		return "/act"
	case "Path":
		return "/admin/reviews"
	case "Deadline":
		return at(0).ISO
	case "Modules":
		return "js/x.js"
	case "Field":
		return "email"
	}
	return f.words
}

// Markup, htmx attributes and script addresses that people type change neither
// the elements of a page nor their attributes.
func TestWordsOfPeopleStayWords(t *testing.T) {
	raw, err := os.ReadFile("testdata/texts.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][2]string
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	plain := map[string][]string{}
	for name, c := range pages(func(p any) { fill(reflect.ValueOf(p), "words") }) {
		plain[name] = shape(render(t, c))
	}
	for _, row := range append(rows, [2]string{"attribute", `' onerror=alert(1) x='`}, [2]string{"link", "javascript:alert(1)"}) {
		hostile := pages(func(p any) { fill(reflect.ValueOf(p), row[1]) })
		for name, c := range hostile {
			d := render(t, c)
			d.policy(t)
			if got := shape(d); !slices.Equal(got, plain[name]) {
				t.Errorf("%s: %s changed the page's elements or attributes: %v", row[0], name, firstDifference(got, plain[name]))
			}
			if title := text(d.all("title")[0]); strings.TrimSpace(title) == "PWNED-MARK" {
				t.Errorf("%s: %s has the title of an attacker", row[0], name)
			}
		}
	}
}

// shape lists elements with the names of their attributes.
func shape(d document) []string {
	var list []string
	for _, n := range d.nodes {
		s := n.Data
		for _, a := range n.Attr {
			s += " " + a.Key
		}
		list = append(list, s)
	}
	return list
}

func firstDifference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("%q instead of %q", got[i], want[i])
		}
	}
	return fmt.Sprintf("%d elements instead of %d", len(got), len(want))
}
