package show

import (
	"tuval/internal/market"
	"tuval/internal/workflow"
)

// Steps are a rental's, from all that is known of it. Without its jobs it is
// not known how the mails and other effects fare.
func Steps(d market.Detail, jobs []market.JobFact) workflow.Graph {
	f := workflow.Facts{Rental: d.Rental, Now: d.Now, Payments: d.Payments, Refunds: d.Refunds, Creatives: d.Creatives}
	for _, e := range d.Events {
		f.Events = append(f.Events, workflow.Event{Kind: e.Kind, At: e.At})
	}
	for _, j := range jobs {
		f.Jobs = append(f.Jobs, workflow.Job(j))
	}
	return workflow.Of(f)
}
