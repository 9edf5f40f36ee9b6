package web

import (
	"net/http"

	"tuval/internal/fault"
	"tuval/views"
	"tuval/web/form"
	"tuval/web/reply"
	"tuval/web/show"
	"tuval/web/visitor"
)

// anomalies lists what is not as it should be.
func (s *site) anomalies(w http.ResponseWriter, r *http.Request) error {
	return s.showAnomalies(w, r, http.StatusOK, nil)
}

func (s *site) showAnomalies(w http.ResponseWriter, r *http.Request, status int, notice *views.NoticeText) error {
	frame, err := s.adminPage(r)
	if err != nil {
		return err
	}
	found, err := s.Market.Anomalies(r.Context(), listed)
	if err != nil {
		return err
	}
	p := views.AnomaliesPage{AdminPage: frame, Notice: notice, All: r.URL.Query().Get("show") == "all"}
	if p.Pass, err = s.passOf(r); err != nil {
		return err
	}
	if p.All {
		settled, err := s.Market.SettledAnomalies(r.Context(), listed)
		if err != nil {
			return err
		}
		found = append(found, settled...)
	}
	for _, a := range found {
		p.Rows = append(p.Rows, show.Anomaly(a))
	}
	reply.HTML(w, r, status, views.Anomalies(p))
	return nil
}

// remedy presses the button of an anomaly.
func (s *site) remedy(w http.ResponseWriter, r *http.Request) error {
	return s.aboutAnomaly(w, r, func(by string) (string, error) { return s.Market.Remedy(r.Context(), r.PathValue("id"), by) })
}

// resolve is a person's word that an anomaly is dealt with.
func (s *site) resolve(w http.ResponseWriter, r *http.Request) error {
	return s.aboutAnomaly(w, r, func(by string) (string, error) {
		return "It is marked as dealt with.", s.Market.Resolve(r.Context(), r.PathValue("id"), by)
	})
}

func (s *site) aboutAnomaly(w http.ResponseWriter, r *http.Request, do func(by string) (string, error)) error {
	if _, err := form.Read(w, r); err != nil {
		return err
	}
	said, err := do(visitor.From(r.Context()).Admin.Email)
	if refusal := fault.As(err); err != nil && refusal.Kind == fault.Conflict {
		_, status := reply.Note(w, r, err)
		return s.showAnomalies(w, r, status, &views.NoticeText{Kind: "error", Title: "Nothing was changed", Text: refusal.Msg})
	}
	if err != nil {
		return err
	}
	s.tell(r.Context(), "success", said)
	reply.Found(w, r, "/admin/anomalies")
	return nil
}
