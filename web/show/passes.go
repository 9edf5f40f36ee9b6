package show

import (
	"fmt"
	"strings"

	"tuval/internal/market"
	"tuval/views"
)

// Pass is the last comparison of what should be with what is; its zero value
// says that there was none.
func Pass(r market.Report, was bool) views.PassView {
	if !was {
		return views.PassView{}
	}
	v := views.PassView{At: views.MomentOf(r.Started), By: "by " + r.By, Trouble: r.Trouble, Found: passWords(r)}
	if r.Finished {
		v.Took = fmt.Sprintf("%.1f s", r.Took.Seconds())
	}
	if r.By == "clock" {
		v.By = "by itself"
	}
	return v
}

// passWords says what a pass came to.
func passWords(r market.Report) string {
	switch n := r.Found(); {
	case !r.Finished:
		return "not finished"
	case n == 0:
		return "nothing that was not as it should be"
	default:
		return Counted(n, "thing")
	}
}

// PassSaid says it to whoever asked for it.
func PassSaid(r market.Report) string {
	text := "Compared: found " + passWords(r) + "."
	if r.Trouble != "" {
		text += " Not looked at: " + r.Trouble + "."
	}
	return text
}

// Finding is one thing that a pass found.
func Finding(f market.Finding) views.FindingRow {
	row := views.FindingRow{
		Kind: f.Kind, RentalID: f.RentalKey, PaymentID: f.PaymentKey, RefundID: f.RefundKey, Done: f.Done, Times: Count(f.Times),
		FirstSeen: views.MomentOf(f.FirstSeen), LastSeen: views.MomentOf(f.LastSeen), Over: Moment(f.Over),
	}
	row.Kind = strings.ToUpper(row.Kind[:min(1, len(row.Kind))]) + row.Kind[min(1, len(row.Kind)):]
	return row
}
