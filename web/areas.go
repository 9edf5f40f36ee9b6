package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"tuval/internal/board"
	"tuval/internal/fault"
	"tuval/internal/text"
	"tuval/views"
	"tuval/web/clicks"
	"tuval/web/form"
	"tuval/web/reply"
	"tuval/web/show"
)

// The list of areas shows so many on a page, and is searched for so many
// letters.
const (
	areasShown = 60
	searchMax  = 100
	pagesMax   = 1000
)

// areas lists what is on the canvas.
func (s *site) areas(w http.ResponseWriter, r *http.Request) error {
	search, page, err := readSearch(r)
	if err != nil {
		return err
	}
	b, err := s.Board.Snapshot(r.Context())
	if err != nil {
		return err
	}
	found, all := show.Live(b, search)
	p := views.AreasPage{Page: s.publicPage(w, r), Query: search, Total: show.Total(len(found), all)}
	p.Description = "Everything that is on the canvas now, with its titles and links."
	p.Canonical = s.Settings.BaseURL + "/areas"
	from := min((page-1)*areasShown, len(found))
	to := min(from+areasShown, len(found))
	for _, a := range found[from:to] {
		p.Cards = append(p.Cards, show.Card(a))
	}
	if to < len(found) {
		p.Next = "/areas?" + url.Values{"q": {search}, "page": {strconv.Itoa(page + 1)}}.Encode()
	}
	reply.HTML(w, r, http.StatusOK, views.Areas(p))
	return nil
}

// readSearch reads ?q= and ?page=.
func readSearch(r *http.Request) (string, int, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "", 0, fault.New(fault.Invalid, "The address is not well-formed.").Because(err)
	}
	f, err := form.Of(query)
	if err != nil {
		return "", 0, err
	}
	c, page := &form.Check{}, 1
	search := form.Text(c, f, "q", func(s string) (string, error) { return text.Line("q", "The search", searchMax, s) })
	if f.Has("page") {
		page = form.Text(c, f, "page", number("page", "The page", 1, pagesMax))
	}
	return search, page, c.Err()
}

// area is one area, to be shared.
func (s *site) area(w http.ResponseWriter, r *http.Request) error {
	b, err := s.Board.Snapshot(r.Context())
	if err != nil {
		return err
	}
	id := r.PathValue("public_id")
	a, ok := liveArea(b, id)
	if !ok {
		return clicks.Absent(r.Context(), s.Pool, id)
	}
	page := s.publicPage(w, r)
	page.Description, page.Canonical = a.Alt, s.Settings.BaseURL+"/areas/"+a.ID
	page.Image = s.Settings.BaseURL + show.PublicPicture(a.Picture2x)
	place := show.Place(a.Rect, show.CanvasPicture(b.Revision, "webp"))
	reply.HTML(w, r, http.StatusOK, views.Area(views.AreaPage{Page: page, Card: show.Card(a), Place: place}))
	return nil
}

func liveArea(b *board.Snapshot, id string) (board.Area, bool) {
	for _, a := range b.Areas {
		if a.ID == id && a.State == board.Live {
			return a, true
		}
	}
	return board.Area{}, false
}

// follow leads to an area's link and counts the click, if a person made it.
func (s *site) follow(w http.ResponseWriter, r *http.Request) error {
	to, err := clicks.Follow(r.Context(), s.Pool, r.PathValue("public_id"), byPerson(r))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("Referrer-Policy", "strict-origin") // they may know which site, not which page
	h.Set("Location", to)
	w.WriteHeader(http.StatusFound)
	return nil
}

// byPerson reports whether a request looks like somebody's click: not a
// question about the headers, not a browser that looks ahead, not a program
// that calls itself one.
func byPerson(r *http.Request) bool {
	h := r.Header
	purpose := strings.ToLower(h.Get("Sec-Purpose") + h.Get("Purpose") + h.Get("X-Purpose") + h.Get("X-Moz"))
	return r.Method == http.MethodGet && !strings.Contains(purpose, "prefetch") && !strings.Contains(purpose, "preview") &&
		!isRobot(h.Get("User-Agent"))
}

// isRobot knows programs by how they call themselves.
func isRobot(agent string) bool {
	agent = strings.ToLower(agent)
	for _, word := range []string{"bot", "crawl", "spider", "slurp", "preview", "facebookexternalhit", "monitor", "scan"} {
		if strings.Contains(agent, word) {
			return true
		}
	}
	return agent == ""
}

// about says the rules and prices.
func (s *site) about(w http.ResponseWriter, r *http.Request) error {
	b, err := s.Board.Snapshot(r.Context())
	if err != nil {
		return err
	}
	page := s.publicPage(w, r)
	page.Canonical = s.Settings.BaseURL + "/about"
	reply.HTML(w, r, http.StatusOK, views.About(show.About(page, s.Market.Rules(), b.Counts.Free, s.Settings.Contact)))
	return nil
}
