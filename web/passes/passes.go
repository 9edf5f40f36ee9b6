package passes

import (
	"context"
	"time"

	"tuval/internal/fault"
	"tuval/internal/market"
)

// Patience is how long anybody is kept waiting for a pass.
const Patience = 20 * time.Second

// longest bounds a pass that goes on after that.
const longest = 10 * time.Minute

// Run begins a pass and waits for its end as long as patience lasts. It goes on
// when whoever asked has left, or when it takes longer: then over is false.
// While another one is under way it refuses with a Conflict.
func Run(ctx context.Context, m *market.Market, by string, patience time.Duration) (report market.Report, over bool, err error) {
	type end struct {
		report market.Report
		err    error
	}
	ended := make(chan end, 1)
	passing, stop := context.WithTimeout(context.WithoutCancel(ctx), longest)
	go func() {
		defer stop()
		r, err := m.Reconcile(passing, by)
		ended <- end{r, err}
	}()
	select {
	case e := <-ended:
		return e.report, true, refusal(e.err)
	case <-time.After(patience):
		return market.Report{}, false, nil
	}
}

// refusal has the code that all states which moved on have.
func refusal(err error) error {
	if !fault.Is(err, "reconciling") {
		return err
	}
	f := *fault.As(err)
	f.Code = "conflict"
	return &f
}
