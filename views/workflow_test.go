package views_test

import (
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"tuval/views"
)

func flow() views.WorkflowView {
	edge := func(id string, back bool) []views.WorkflowEdge {
		return []views.WorkflowEdge{{ID: id, Title: strings.ToUpper(id), Back: back}}
	}
	return views.WorkflowView{Title: "Steps", Desc: "How it stands.", Steps: []views.WorkflowStep{
		{ID: "a", Title: "A", State: "done", Word: "done", Lead: "at", When: views.Moment{ISO: "2027-03-01T09:00:00Z", Text: "Mon 1 Mar 2027, 09:00 UTC"}, Brief: "1 Mar 09:00 UTC"},
		{ID: "b", Title: "B", State: "now", Word: "under way", After: edge("a", false)},
		{ID: "c", Title: "C", State: "failed", Word: "failed", Count: "try 3/3", Tries: "try 3 of 3", Error: "<script>no</script>", Side: true, After: edge("b", true)},
		{ID: "d", Title: "D", State: "waiting", Word: "waiting", After: append(edge("b", false), edge("c", false)...)},
		{ID: "e", Title: "E", State: "skipped", Word: "skipped", After: edge("d", false)},
		{ID: "f", Title: "F", State: "undone", Word: "undone", Side: true, After: edge("c", false)},
		{ID: "g", Title: "G", State: "done", Word: "done", After: edge("a", true)},
	}}
}

// The picture is an image with a name, says everything once more as a list,
// and needs neither styles of its own nor colour.
func TestWorkflowPictureIsReadable(t *testing.T) {
	d := render(t, views.WorkflowPicture(flow()))
	svg := d.all("svg")[0]
	if attr(svg, "role") != "img" || attr(svg, "aria-labelledby") != "flow-title flow-desc" {
		t.Error("the picture has no name")
	}
	if len(d.all("style")) > 0 || strings.Contains(d.source, "style=") {
		t.Error("styles of its own")
	}
	items := d.all("li")
	if len(items) != len(flow().Steps) {
		t.Fatalf("%d items", len(items))
	}
	for i, s := range flow().Steps {
		if !strings.Contains(text(items[i]), s.Word) || !strings.Contains(text(items[i]), s.Title) {
			t.Errorf("%s: %q", s.ID, text(items[i]))
		}
	}
	if said := text(items[2]); !strings.Contains(said, "try 3 of 3") || !strings.Contains(said, "<script>no</script>") || !strings.Contains(said, "Follows: B.") {
		t.Errorf("%q", said)
	}
	if attr(items[1], "aria-current") != "step" {
		t.Error("what is under way is not marked")
	}
	marks := map[string]string{}
	for _, p := range d.all("path") {
		if attr(p, "class") == "flow-sign" {
			marks[attr(p, "d")] = attr(p.Parent.Parent, "class")
		}
	}
	if len(marks) != 6 {
		t.Errorf("%d signs for 6 states", len(marks))
	}
}

// Boxes never lie on each other, and stay inside the picture.
func TestWorkflowBoxesKeepApart(t *testing.T) {
	d := render(t, views.WorkflowPicture(flow()))
	var boxes [][4]int
	for _, r := range d.all("rect") {
		boxes = append(boxes, [4]int{number(t, r, "x"), number(t, r, "y"), number(t, r, "width"), number(t, r, "height")})
	}
	svg := d.all("svg")[0]
	w, h := number(t, svg, "width"), number(t, svg, "height")
	for i, a := range boxes {
		if a[0] < 0 || a[1] < 0 || a[0]+a[2] > w || a[1]+a[3] > h {
			t.Errorf("box %d leaves the picture: %v of %d x %d", i, a, w, h)
		}
		for j, b := range boxes[:i] {
			if a[0] < b[0]+b[2] && b[0] < a[0]+a[2] && a[1] < b[1]+b[3] && b[1] < a[1]+a[3] {
				t.Errorf("boxes %d and %d overlap: %v, %v", i, j, a, b)
			}
		}
	}
}

func TestTimelineMarksWhatIsNotFixed(t *testing.T) {
	d := render(t, views.Timeline(views.TimelineView{Items: []views.TimelineItem{
		{State: "done", Title: "Paid"}, {State: "now", Title: "Review"}, {Title: "Goes live", Lead: "as you wished, on", At: views.Moment{ISO: "x", Text: "Mon 1 Mar 2027, 09:00 UTC"}, Open: "Not fixed."},
	}}))
	items := d.all("li")
	if got := text(items[0]); got != "Paid (done)" {
		t.Errorf("%q", got)
	}
	if attr(items[1], "aria-current") != "step" {
		t.Error("what is now is not marked")
	}
	if got := text(items[2]); got != "Goes live as you wished, on Mon 1 Mar 2027, 09:00 UTCNot fixed." {
		t.Errorf("%q", got)
	}
}

func number(t *testing.T, n *html.Node, name string) int {
	t.Helper()
	i, err := strconv.Atoi(attr(n, name))
	if err != nil {
		t.Fatal(err)
	}
	return i
}
