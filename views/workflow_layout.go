package views

import (
	"fmt"
	"strconv"
)

// The picture's measures, in px: two columns of boxes that fit a phone, and
// the gutter between them in which the lines run.
const (
	flowWidth   = 326
	flowBox     = 150
	flowSideX   = flowWidth - flowBox - 1
	flowMainX   = 10
	flowGap     = 16
	flowPad     = 2
	flowTall    = 62
	flowLow     = 44
	flowLowest  = 28
	flowLetters = 15                       // of title and state that fit one line
	flowOutX    = flowMainX + flowBox + 4  // lines that lead to the side
	flowBackX   = flowMainX + flowBox + 10 // lines that lead back
	flowMarginX = 3                        // lines that pass steps of the main way
)

// flowBoxAt is a step at its place.
type flowBoxAt struct {
	WorkflowStep
	X, Y, H int
}

func (b flowBoxAt) mid() int    { return b.Y + b.H/2 }
func (b flowBoxAt) center() int { return b.X + flowBox/2 }

// flowLine is one edge: its path, and the tip of its arrow.
type flowLine struct {
	Path, Tip string
	Class     string
}

// flowPicture is a picture that is laid out.
type flowPicture struct {
	H     int
	Boxes []flowBoxAt
	Lines []flowLine
}

func (p flowPicture) viewBox() string { return fmt.Sprintf("0 0 %d %d", flowWidth, p.H) }

// draw lays the steps out: the main way down the left, what belongs to it on
// the right, each as far down as what it follows allows.
func (v WorkflowView) draw() flowPicture {
	var p flowPicture
	row := v.rows()
	tops, height := v.tops(row)
	p.H = height
	place := map[string]flowBoxAt{}
	for i, s := range v.Steps {
		b := flowBoxAt{WorkflowStep: s, X: flowMainX, Y: tops[row[i]], H: s.height()}
		if s.Side {
			b.X = flowSideX
		}
		place[s.ID] = b
		p.Boxes = append(p.Boxes, b)
	}
	for _, b := range p.Boxes {
		for _, e := range b.After {
			if from, ok := place[e.ID]; ok {
				p.Lines = append(p.Lines, line(from, b, e.Back, row[v.index(e.ID)], row[v.index(b.ID)]))
			}
		}
	}
	return p
}

func (v WorkflowView) index(id string) int {
	for i, s := range v.Steps {
		if s.ID == id {
			return i
		}
	}
	return 0
}

// rows gives each step its row: below what it follows, and below the last of
// its own column. A main step begins where the side steps that lead to it end.
func (v WorkflowView) rows() []int {
	rows := make([]int, len(v.Steps))
	next := map[bool]int{}
	for i, s := range v.Steps {
		r := next[s.Side]
		for _, e := range s.After {
			r = max(r, rows[v.index(e.ID)]+1)
		}
		rows[i], next[s.Side] = r, r+1
	}
	return rows
}

// tops are where the rows begin; each is as tall as the tallest in it.
func (v WorkflowView) tops(row []int) ([]int, int) {
	tall := make([]int, len(v.Steps)+1)
	last := 0
	for i, s := range v.Steps {
		tall[row[i]] = max(tall[row[i]], s.height())
		last = max(last, row[i])
	}
	tops, y := make([]int, last+1), flowPad
	for r := range tops {
		tops[r] = y
		y += tall[r] + flowGap
	}
	return tops, y - flowGap + flowPad
}

// height is that of a step's box: as many lines as it has.
func (s WorkflowStep) height() int {
	switch {
	case s.third() != "":
		return flowTall
	case s.Count == "" && (s.State == "waiting" || s.State == "skipped") && len(s.Title)+len(s.Word) <= flowLetters:
		return flowLowest
	}
	return flowLow
}

// oneLine reports whether the state stands beside the title.
func (s WorkflowStep) oneLine() bool { return s.height() == flowLowest }

// line draws an edge. Lines run straight down where nothing is between, else
// in the gutter or the margin.
func line(from, to flowBoxAt, back bool, fromRow, toRow int) flowLine {
	l := flowLine{Class: "flow-line"}
	if back {
		l.Class += " flow-back"
	}
	switch {
	case from.Side == to.Side && toRow == fromRow+1:
		l.Path = path("M", from.center(), from.Y+from.H, "V", to.Y-5)
		l.Tip = down(to.center(), to.Y)
	case !from.Side && !to.Side && !back:
		l.Path = path("M", from.center(), from.Y+from.H, "V", to.Y-5)
		l.Tip = down(to.center(), to.Y)
	case !from.Side && !to.Side:
		l.Path = path("M", from.X, from.mid(), "H", flowMarginX, "V", to.mid(), "H", to.X-5)
		l.Tip = right(to.X, to.mid())
	case to.Side && !from.Side:
		l.Path = path("M", from.X+flowBox, from.mid(), "H", flowOutX, "V", to.mid(), "H", to.X-5)
		l.Tip = right(to.X, to.mid())
	case to.Side:
		l.Path = path("M", from.X, from.mid()+6, "H", flowBackX, "V", to.mid()-6, "H", to.X-5)
		l.Tip = right(to.X, to.mid()-6)
	default:
		l.Path = path("M", from.X, from.mid()+6, "H", flowBackX, "V", to.Y+9, "H", to.X+flowBox+5)
		l.Tip = left(to.X+flowBox, to.Y+9)
	}
	return l
}

// path writes commands and numbers one after the other.
func path(parts ...any) string {
	text := ""
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			text += p
		case int:
			text += strconv.Itoa(p) + " "
		}
	}
	return text
}

func down(x, y int) string  { return fmt.Sprintf("M%d %dl-4 -6h8z", x, y) }
func right(x, y int) string { return fmt.Sprintf("M%d %dl-6 -4v8z", x, y) }
func left(x, y int) string  { return fmt.Sprintf("M%d %dl6 -4v8z", x, y) }

func num(n int) string { return strconv.Itoa(n) }
