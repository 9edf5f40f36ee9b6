package web

import (
	"net/http"

	"tuval/internal/fault"
	"tuval/views"
	"tuval/web/form"
	"tuval/web/passes"
	"tuval/web/reply"
	"tuval/web/show"
	"tuval/web/visitor"
)

// findingsShown is how many findings stand below the anomalies.
const findingsShown = 50

// reconcile looks now, as the clock makes it look every quarter of an hour.
func (s *site) reconcile(w http.ResponseWriter, r *http.Request) error {
	if _, err := form.Read(w, r); err != nil {
		return err
	}
	report, over, err := passes.Run(r.Context(), s.Market, visitor.From(r.Context()).Admin.Email, passes.Patience)
	if refusal := fault.As(err); err != nil && refusal.Kind == fault.Conflict {
		_, status := reply.Note(w, r, err)
		return s.showAnomalies(w, r, status, &views.NoticeText{Kind: "warning", Title: "Not begun", Text: refusal.Msg})
	}
	switch {
	case err != nil:
		return err
	case over:
		s.tell(r.Context(), "success", show.PassSaid(report))
	default:
		s.tell(r.Context(), "info", "The comparison takes longer and goes on. Look here again in a minute.")
	}
	reply.Found(w, r, "/admin/anomalies")
	return nil
}

// passOf is the last comparison with what it and earlier ones found.
func (s *site) passOf(r *http.Request) (views.PassView, error) {
	report, was, err := s.Market.LastPass(r.Context())
	if err != nil {
		return views.PassView{}, err
	}
	found, err := s.Market.Findings(r.Context(), findingsShown)
	if err != nil {
		return views.PassView{}, err
	}
	v := show.Pass(report, was)
	for _, f := range found {
		v.Findings = append(v.Findings, show.Finding(f))
	}
	return v, nil
}
