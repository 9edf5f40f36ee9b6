package views

import "fmt"

func (a AnomalyRow) facts() []Fact {
	facts := []Fact{{"First seen", a.FirstSeen.Text}, {"Last seen", a.LastSeen.Text}}
	for _, id := range []Fact{{"To do", a.Action}, {"Done", a.Done}, {"Resolved", a.Resolved.Text}, {"Payment", a.PaymentID}, {"Refund", a.RefundID}} {
		if id.Value != "" {
			facts = append(facts, id)
		}
	}
	return facts
}

func (f BlockedForm) number(name, label, value, hint string) FieldView {
	return FieldView{
		Name: name, Label: label, Value: value, Type: "number", InputMode: "numeric", Min: "1", Max: "100", Required: true,
		Hint: hint, Error: errorOf(f.Problems, name),
	}
}

// diagonals is a path of the box's two diagonals.
func (b box) diagonals() string {
	return fmt.Sprintf("M%d %d l%d %d M%d %d l%d %d", b.x, b.y, b.w, b.h, b.x+b.w, b.y, -b.w, b.h)
}

// path is where a button about an anomaly posts to.
func (a AnomalyRow) path(verb string) string { return "/admin/anomalies/" + a.ID + "/" + verb }
