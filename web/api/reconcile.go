package api

import (
	"net/http"
	"time"

	"tuval/internal/market"
	"tuval/web/passes"
	"tuval/web/reply"
)

// passJSON is a comparison of what should be with what is.
type passJSON struct {
	State     string        `json:"state"` // done, or running when it takes longer than anybody is kept waiting
	By        string        `json:"by"`
	StartedAt *time.Time    `json:"started_at,omitempty"`
	EndedAt   *time.Time    `json:"ended_at,omitempty"`
	Found     int           `json:"found"`
	Findings  []findingJSON `json:"findings"`
	Trouble   string        `json:"trouble,omitempty"`
}

type findingJSON struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	Done  string `json:"done"`
}

// reconcile looks now, as the clock makes it look every quarter of an hour.
func (a *api) reconcile(w http.ResponseWriter, r *http.Request) error {
	v, err := a.admin(r)
	if err != nil {
		return err
	}
	if _, err := read(w, r); err != nil {
		return err
	}
	report, over, err := passes.Run(r.Context(), a.Market, v.Admin.Email, passes.Patience)
	switch {
	case err != nil:
		return err
	case !over:
		reply.JSON(w, r, http.StatusAccepted, passJSON{State: "running", By: v.Admin.Email, Findings: []findingJSON{}})
		return nil
	}
	reply.JSON(w, r, http.StatusOK, passOf(report))
	return nil
}

func passOf(r market.Report) passJSON {
	ended := r.Started.Add(r.Took)
	p := passJSON{State: "done", By: r.By, StartedAt: &r.Started, EndedAt: &ended, Found: r.Found(), Findings: []findingJSON{}, Trouble: r.Trouble}
	for _, t := range r.Tallies {
		p.Findings = append(p.Findings, findingJSON{Kind: t.Kind, Count: t.Count, Done: t.Done})
	}
	return p
}
