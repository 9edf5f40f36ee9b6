package main

import (
	"strconv"
	"time"

	"github.com/a-h/templ"

	"tuval/views"
)

func canvasPage(base views.Page) views.CanvasPage {
	base.Description = "A canvas of 1000 by 1000 pixels, rented out block by block."
	base.HTMX = true
	base.Modules = []string{"js/canvas.js"}
	return views.CanvasPage{
		Page: base, Free: "7,412", Total: "10,000", PricePerBlock: "100.00 USD",
		Picture: "/canvas/busy.png", Preview: "/canvas/busy.webp", PictureAlt: "The canvas at this moment, with 23 areas on it",
		Board: "/api/v1/board", Hold: holdForm(),
	}
}

func holdForm() views.HoldFormView {
	return views.HoldFormView{
		RequestID: "story-" + strconv.FormatInt(time.Now().UnixNano(), 36), PricePerBlock: "100.00 USD",
		MaxBlocks: 1000, HoldFor: "10 minutes",
	}
}

func canvasStory(path, title string, status int, change func(*views.CanvasPage)) story {
	return story{path: "canvas/" + path, title: title, status: status, render: func(base views.Page) templ.Component {
		page := canvasPage(base)
		change(&page)
		return views.Canvas(page)
	}}
}

func canvasStories() []story {
	typed := func(p *views.CanvasPage, outcome views.HoldOutcome) {
		p.Hold.Outcome = outcome
		p.Hold.Col, p.Hold.Row, p.Hold.W, p.Hold.H = "12", "8", "6", "4"
	}
	refused := func(o views.HoldOutcome, retry string) func(*views.CanvasPage) {
		return func(p *views.CanvasPage) { typed(p, o); p.Hold.Retry = retry }
	}
	return []story{
		canvasStory("busy", "as most people see it", 0, func(*views.CanvasPage) {}),
		canvasStory("empty", "nothing on it yet", 0, func(p *views.CanvasPage) {
			p.Free, p.Empty, p.Board = "10,000", true, "/fake/empty-board"
			p.Picture, p.Preview = "/canvas/empty.png", "/canvas/empty.png"
		}),
		canvasStory("taken", "409, with other places", 409, func(p *views.CanvasPage) {
			typed(p, views.HoldTaken)
			p.Hold.Taken = "columns 12 to 14, row 8"
			for i := range 5 {
				p.Hold.Nearest = append(p.Hold.Nearest, views.PlaceView{Col: 30 + 7*i, Row: 8 + i, W: 6, H: 4})
			}
		}),
		canvasStory("nowhere", "409, no other place", 409, refused(views.HoldTaken, "")),
		canvasStory("invalid", "422, fields marked", 422, func(p *views.CanvasPage) {
			p.Hold.Outcome = views.HoldInvalid
			p.Hold.Col, p.Hold.Row, p.Hold.W, p.Hold.H = "98", "1e1", "6", ""
			p.Hold.Problems = []views.Problem{
				{Field: "w", Text: "6 blocks from column 98 reach beyond column 100."},
				{Field: "row", Text: "The row is a whole number from 1 to 100."},
				{Field: "h", Text: "Say how many blocks high, from 1 to 100."},
			}
		}),
		canvasStory("limit", "429", 429, refused(views.HoldLimited, "in 12 minutes")),
		canvasStory("full", "409, too much on hold", 409, refused(views.HoldFull, "")),
		canvasStory("paying", "409, own payment under way", 409, refused(views.HoldPaying, "")),
		canvasStory("unavailable", "503", 503, refused(views.HoldBusy, "in a second")),
		canvasStory("held", "with blocks of one's own", 0, func(p *views.CanvasPage) {
			p.SignedIn = true
			p.Mine = []views.OwnPlace{
				{Place: views.PlaceView{Col: 40, Row: 92, W: 6, H: 4}, State: "held", Label: "9 minutes left", Href: "/stories/canvas/busy"},
				{Place: views.PlaceView{Col: 3, Row: 20, W: 14, H: 10}, State: "live", Label: "On the canvas", Href: "/stories/canvas/busy"},
			}
			p.Flash = []views.FlashView{{Kind: "success", Text: "You are signed in."}}
		}),
	}
}
