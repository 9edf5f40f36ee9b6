package views

import (
	"fmt"
	"strconv"
)

// CanvasPage is the first page: the canvas, what is left of it, and the form
// that holds a part of it.
type CanvasPage struct {
	Page
	Free          string // free blocks, "7,412"
	Total         string // all blocks, "10,000"
	PricePerBlock string // a week, "100.00 USD"
	Picture       string // address of the PNG of the present revision
	Preview       string // address of its WebP preview
	PictureAlt    string // what the picture is, in a sentence
	Board         string // address of the JSON board
	Empty         bool   // nothing is on the canvas yet
	Mine          []OwnPlace
	Hold          HoldFormView
	Marks         []CanvasMark // what is not free and not in the picture, for browsers without scripts
}

// CanvasMark is an area in blocks, counted from 0, with its state: held,
// taken, reserved or blocked.
type CanvasMark struct {
	X, Y, W, H int
	State      string
}

// OwnPlace is a part of the canvas that belongs to whoever is looking.
type OwnPlace struct {
	Place PlaceView
	State string // of the rental, as in StateChip
	Label string // "held for 9 more minutes"
	Href  string // the rental's page
}

// HoldFormView is the form that makes a hold, and what became of the last try. It
// is a part of the canvas page and, with the id hold-panel, the fragment that
// POST /holds answers with when it refuses.
type HoldFormView struct {
	RequestID     string // new with every rendering: a key is spent once it held something
	Col, Row      string // as typed, counted from 1
	W, H          string // as typed, in blocks
	PricePerBlock string // a week, "100.00 USD"
	MaxBlocks     int    // in one hold
	HoldFor       string // "10 minutes"
	Outcome       HoldOutcome
	Problems      []Problem   // of HoldInvalid; fields "col", "row", "w", "h"
	Message       string      // in place of the words that the outcome has by itself
	Taken         string      // of HoldTaken: which part, "columns 12 to 14, row 8", or empty
	InTheWay      string      // of HoldTaken: held, taken, live, reserved or blocked if all of that part is so, "mixed", or empty: since a moment ago
	Nearest       []PlaceView // of HoldTaken: free places of the same size, nearest first
	Retry         string      // of HoldLimited and HoldBusy: "in 40 seconds"
}

// HoldOutcome says why a hold was refused; each goes with one status.
type HoldOutcome string

// The outcomes. The zero value is a form that was not sent yet.
const (
	HoldInvalid HoldOutcome = "invalid" // 422
	HoldTaken   HoldOutcome = "taken"   // 409, somebody was faster
	HoldFull    HoldOutcome = "full"    // 409, too much of the canvas is held
	HoldPaying  HoldOutcome = "paying"  // 409, the person's own payment is under way there
	HoldLimited HoldOutcome = "limit"   // 429
	HoldBusy    HoldOutcome = "busy"    // 503
)

// kind, title and text are the words of an outcome.
func (h HoldFormView) kind() string {
	if h.Outcome == HoldFull || h.Outcome == HoldBusy || h.Outcome == HoldPaying {
		return "warning"
	}
	return "error"
}

func (h HoldFormView) title() string {
	switch h.Outcome {
	case HoldTaken:
		return h.lost()
	case HoldFull:
		return "Too much of the canvas is on hold"
	case HoldPaying:
		return "Your payment for these blocks is under way"
	case HoldLimited:
		return "That is more than one person can hold"
	case HoldBusy:
		return "The canvas is very busy"
	}
	return ""
}

// lost names what is in the way. Only of what was taken a moment ago, and may
// come free again, is it true that somebody was faster.
func (h HoldFormView) lost() string {
	switch h.InTheWay {
	case "taken", "live":
		return "These blocks are rented already"
	case "reserved":
		return "These blocks are reserved for their last renter"
	case "blocked":
		return "These blocks are not for rent"
	case "mixed":
		return "Some of these blocks are not free"
	}
	return "Somebody was faster"
}

func (h HoldFormView) text() string {
	if h.Message != "" {
		return h.Message
	}
	switch h.Outcome {
	case HoldTaken:
		return h.takenPart() + " Nothing was held for you and nothing is owed."
	case HoldFull:
		return "Holds end within minutes. Please try again soon, or choose fewer blocks."
	case HoldPaying:
		return "It cannot be changed until the payment has come through or failed."
	case HoldLimited:
		return "Pay for a hold, let one go, or try again " + or(h.Retry, "later") + "."
	case HoldBusy:
		return "Nothing was held. Please try again " + or(h.Retry, "in a moment") + "."
	}
	return ""
}

func (h HoldFormView) takenPart() string {
	if h.Taken == "" {
		return "Part of your rectangle is taken."
	}
	return "Taken: " + h.Taken + "."
}

func (h HoldFormView) field(name, label, value, most string) FieldView {
	return FieldView{
		Name: name, Label: label, Value: value, Error: errorOf(h.Problems, name),
		InputMode: "numeric", Autocomplete: "off", Required: true, MaxLength: 12,
		Attrs: map[string]any{"pattern": "[0-9]{1,3}", "title": "A whole number from 1 to " + most, "data-part": name},
	}
}

// rect is a place in the form that scripts and links use: "x,y,w,h" from 0.
func (p PlaceView) rect() string {
	return fmt.Sprintf("%d,%d,%d,%d", p.Col-1, p.Row-1, p.W, p.H)
}

// Span names all columns and rows of a place: "columns 12 to 17, row 8".
func (p PlaceView) Span() string {
	return span("column", p.Col, p.W) + ", " + span("row", p.Row, p.H)
}

func span(noun string, from, length int) string {
	if length == 1 {
		return noun + " " + strconv.Itoa(from)
	}
	return fmt.Sprintf("%ss %d to %d", noun, from, from+length-1)
}

// key gives each of the one-click forms a request id of its own.
func (h HoldFormView) key(i int) string { return h.RequestID + "-" + strconv.Itoa(i+1) }
