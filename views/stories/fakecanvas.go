package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"tuval/views"
)

// area is an area of the board as the JSON API shows it.
type area struct {
	ID       string `json:"id,omitempty"`
	X        int    `json:"x"`
	Y        int    `json:"y"`
	W        int    `json:"w"`
	H        int    `json:"h"`
	State    string `json:"state"`
	Until    string `json:"until,omitempty"`
	Title    string `json:"title,omitempty"`
	Alt      string `json:"alt,omitempty"`
	LinkHost string `json:"link_host,omitempty"`
}

func (a area) overlaps(x, y, w, h int) bool {
	return a.X < x+w && x < a.X+a.W && a.Y < y+h && y < a.Y+a.H
}

// fakeCanvas answers for the board, its picture and holds. It keeps what was
// held until it stops.
type fakeCanvas struct {
	mu      sync.Mutex
	areas   []area
	version int
	picture []byte
}

func newFakeCanvas() *fakeCanvas {
	c := &fakeCanvas{areas: invented()}
	c.picture = paint(c.areas)
	return c
}

func (c *fakeCanvas) mount(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v1/board", c.board)
	mux.HandleFunc("GET /fake/empty-board", func(w http.ResponseWriter, r *http.Request) { sendBoard(w, r, nil, 0) })
	mux.HandleFunc("GET /canvas/{file}", c.image)
	mux.HandleFunc("POST /holds", c.hold)
	// Somebody else takes a place: /fake/take?x=&y=&w=&h=
	mux.HandleFunc("POST /fake/take", c.take)
}

func (c *fakeCanvas) image(w http.ResponseWriter, r *http.Request) {
	body := c.picture
	if r.PathValue("file") == "empty.png" {
		body = paint(nil)
	}
	w.Header().Set("Content-Type", "image/png")
	_, _ = w.Write(body)
}

func (c *fakeCanvas) board(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sendBoard(w, r, c.areas, c.version)
}

func sendBoard(w http.ResponseWriter, r *http.Request, areas []area, version int) {
	etag := fmt.Sprintf("%q", "v"+strconv.Itoa(version))
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	counts := map[string]int{"free": 10000, "held": 0, "taken": 0, "reserved": 0, "blocked": 0}
	for _, a := range areas {
		kind := a.State
		if kind == "live" {
			kind = "taken"
		}
		counts[kind] += a.W * a.H
		counts["free"] -= a.W * a.H
	}
	picture := "/canvas/busy.png"
	if len(areas) == 0 {
		picture, areas = "/canvas/empty.png", []area{}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"revision": strconv.Itoa(version),
		"grid":     map[string]int{"cols": 100, "rows": 100, "block_px": 10},
		"price":    map[string]any{"amount": 10000, "currency": "usd"},
		"counts":   counts,
		"image":    map[string]string{"url": picture, "preview_url": picture},
		"areas":    areas,
	})
}

func (c *fakeCanvas) take(w http.ResponseWriter, r *http.Request) {
	var a area
	for name, to := range map[string]*int{"x": &a.X, "y": &a.Y, "w": &a.W, "h": &a.H} {
		*to, _ = strconv.Atoi(r.FormValue(name))
	}
	a.State, a.Until = "held", time.Now().UTC().Add(10*time.Minute).Format(time.RFC3339)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.areas = append(c.areas, a)
	c.version++
}

// hold refuses as the product would and sends the rest to a page that says so.
func (c *fakeCanvas) hold(w http.ResponseWriter, r *http.Request) {
	form := holdForm()
	form.Col, form.Row, form.W, form.H = r.FormValue("col"), r.FormValue("row"), r.FormValue("w"), r.FormValue("h")
	var at [4]int
	for i, name := range []string{"col", "row", "w", "h"} {
		n, err := strconv.Atoi(r.FormValue(name))
		if err != nil || n < 1 || n > 100 {
			form.Problems = append(form.Problems, views.Problem{Field: name, Text: "A whole number from 1 to 100 is needed."})
		}
		at[i] = n
	}
	if len(form.Problems) > 0 {
		form.Outcome = views.HoldInvalid
		c.refuse(w, r, http.StatusUnprocessableEntity, form)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.areas {
		if a.overlaps(at[0]-1, at[1]-1, at[2], at[3]) {
			form.Outcome, form.Nearest = views.HoldTaken, c.nearest(at)
			form.Taken = views.PlaceView{Col: a.X + 1, Row: a.Y + 1, W: a.W, H: a.H}.Span()
			c.refuse(w, r, http.StatusConflict, form)
			return
		}
	}
	if r.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Redirect", "/stories/canvas/held")
		return
	}
	http.Redirect(w, r, "/stories/canvas/held", http.StatusSeeOther)
}

func (c *fakeCanvas) refuse(w http.ResponseWriter, r *http.Request, status int, form views.HoldFormView) {
	if r.Header.Get("HX-Request") != "" {
		write(w, status, views.HoldForm(form))
		return
	}
	page := canvasPage(views.Page{Path: "/"})
	page.Hold = form
	write(w, status, views.Canvas(page))
}

func (c *fakeCanvas) nearest(at [4]int) []views.PlaceView {
	var places []views.PlaceView
	for d := 1; d < 100 && len(places) < 5; d++ {
		for _, s := range [][2]int{{d, 0}, {-d, 0}, {0, d}, {0, -d}} {
			x, y := at[0]-1+s[0], at[1]-1+s[1]
			if len(places) < 5 && c.free(x, y, at[2], at[3]) {
				places = append(places, views.PlaceView{Col: x + 1, Row: y + 1, W: at[2], H: at[3]})
			}
		}
	}
	return places
}

func (c *fakeCanvas) free(x, y, w, h int) bool {
	if x < 0 || y < 0 || x+w > 100 || y+h > 100 {
		return false
	}
	for _, a := range c.areas {
		if a.overlaps(x, y, w, h) {
			return false
		}
	}
	return true
}

// invented fills a canvas with plausible areas.
func invented() []area {
	titles := []string{"Olive & Thread", "North Pier Coffee", "Kestrel Maps", "Granite Climbing", "Second Shelf Books", "Field Notes Radio", "Blue Door Ceramics", "Two Rivers Bicycles"}
	sizes := [][2]int{{14, 10}, {8, 8}, {20, 6}, {6, 4}, {10, 16}, {4, 4}, {12, 12}, {6, 9}, {24, 12}, {5, 5}}
	var list []area
	seed := uint32(11)
	next := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>8) % n
	}
	for i := range 46 {
		size := sizes[i%len(sizes)]
		a := area{X: next(101 - size[0]), Y: next(101 - size[1]), W: size[0], H: size[1], State: "live"}
		if crowded(list, a) {
			continue
		}
		switch len(list) % 7 {
		case 3:
			a.State, a.Until = "held", time.Now().UTC().Add(7*time.Minute).Format(time.RFC3339)
		case 4:
			a.State, a.Until = "reserved", time.Now().UTC().Add(31*time.Hour).Format(time.RFC3339)
		case 5:
			a.State = "taken"
		default:
			name := titles[i%len(titles)]
			a.ID, a.Title, a.Alt, a.LinkHost = fmt.Sprintf("pub%d", i), name, "The sign of "+name, fmt.Sprintf("shop%d.example", i)
			a.Until = time.Now().UTC().Add(time.Duration(i+1) * 100 * time.Hour).Format(time.RFC3339)
		}
		list = append(list, a)
	}
	return append(list, area{X: 94, Y: 0, W: 6, H: 3, State: "blocked"})
}

func crowded(list []area, a area) bool {
	for _, b := range list {
		if b.overlaps(a.X, a.Y, a.W, a.H) || a.overlaps(94, 0, 6, 3) {
			return true
		}
	}
	return false
}

// paint composes the picture of the live areas: a colour, and shapes in it.
func paint(areas []area) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, 1000, 1000))
	draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
	for i, a := range areas {
		if a.State == "live" {
			poster(img, image.Rect(a.X*10, a.Y*10, (a.X+a.W)*10, (a.Y+a.H)*10), i)
		}
	}
	var out bytes.Buffer
	_ = png.Encode(&out, img)
	return out.Bytes()
}

func poster(img *image.NRGBA, r image.Rectangle, i int) {
	ground := hue(float64(i)*0.618, 0.55, 0.82)
	figure := hue(float64(i)*0.618+0.5, 0.75, 0.38)
	cx, cy := float64(r.Min.X+r.Max.X)/2, float64(r.Min.Y+r.Max.Y)/2
	radius := float64(min(r.Dx(), r.Dy())) * 0.34
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := ground
			dx, dy := float64(x)+.5-cx, float64(y)+.5-cy
			switch i % 4 {
			case 0:
				if math.Hypot(dx, dy) < radius {
					c = figure
				}
			case 1:
				if math.Abs(dx)+math.Abs(dy) < radius*1.3 {
					c = figure
				}
			case 2:
				if int(math.Abs(dx+dy))/12%2 == 0 {
					c = figure
				}
			case 3:
				if math.Abs(dy) < radius*.45 || math.Hypot(dx, dy) < radius*.8 {
					c = figure
				}
			}
			img.SetNRGBA(x, y, c)
		}
	}
}

func hue(h, s, v float64) color.NRGBA {
	channel := func(n float64) uint8 {
		k := math.Mod(n+math.Mod(h, 1)*6, 6)
		return uint8(255 * (v - v*s*max(0, min(k, 4-k, 1))))
	}
	return color.NRGBA{channel(5), channel(3), channel(1), 255}
}
