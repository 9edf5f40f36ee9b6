package api

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"tuval/internal/capacity"
	"tuval/internal/fault"
	"tuval/internal/market"
	"tuval/web/reply"
)

// slotJSON is an hour at which a cart could go live, or not.
type slotJSON struct {
	At        time.Time `json:"at"`
	Available bool      `json:"available"`
	Limits    []useJSON `json:"limits"`
}

type useJSON struct {
	Metric capacity.Metric `json:"metric"`
	Used   int64           `json:"used"`
	Limit  int64           `json:"limit"`
	Window string          `json:"window"`
}

type slotsJSON struct {
	Slots []slotJSON `json:"slots"`
}

// slots says for a cart that does not exist yet at which hours it could go
// live, and which limit stands in the way.
func (a *api) slots(w http.ResponseWriter, r *http.Request) error {
	blocks, err := a.cart(r)
	if err != nil {
		return err
	}
	from, err := instantParam(r, "from")
	if err != nil {
		return err
	}
	to, err := instantParam(r, "to")
	if err != nil {
		return err
	}
	slots, err := a.Capacity.Slots(r.Context(), blocks, from, to, market.MaxGoLive)
	if err != nil {
		return err
	}
	list := slotsJSON{Slots: make([]slotJSON, 0, len(slots))}
	for _, s := range slots {
		list.Slots = append(list.Slots, slotJSON{At: s.At, Available: s.Available, Limits: usesOf(s.Limits)})
	}
	reply.JSON(w, r, http.StatusOK, list)
	return nil
}

func usesOf(uses []capacity.Use) []useJSON {
	all := make([]useJSON, len(uses))
	for i, u := range uses {
		all[i] = useJSON{Metric: u.Metric, Used: u.Used, Limit: u.Limit, Window: u.Metric.WindowName()}
	}
	return all
}

// cart is how many blocks are asked for: as many as one hold can have.
func (a *api) cart(r *http.Request) (int, error) {
	text, err := param(r, "blocks")
	if err != nil {
		return 0, err
	}
	most := a.Market.Rules().MaxBlocks
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most || text != strconv.Itoa(n) {
		return 0, fault.Field("blocks", fmt.Sprintf("blocks must be a whole number from 1 to %d", most))
	}
	return n, nil
}

// instantParam is an instant of the address; a zero one when it was not sent.
func instantParam(r *http.Request, name string) (t time.Time, err error) {
	text, err := param(r, name)
	if err != nil || text == "" {
		return t, err
	}
	if err := t.UnmarshalText([]byte(text)); err != nil || t.UTC().Year() > 9999 || t.IsZero() {
		return time.Time{}, fault.Field(name, name+" must be an instant of RFC 3339, as in 2027-01-31T15:00:00Z")
	}
	return t.UTC(), nil
}

// metricJSON is how one limit stands. Over means that more is used than the
// limit allows: it was lowered, or approvals without a chosen time came to more.
type metricJSON struct {
	Metric  capacity.Metric `json:"metric"`
	Window  string          `json:"window"`
	Hard    bool            `json:"hard"`
	Limit   int64           `json:"limit"`
	Used    int64           `json:"used"`
	Over    bool            `json:"over"`
	Windows []windowJSON    `json:"windows"`
}

type windowJSON struct {
	At   time.Time `json:"at"`
	Used int64     `json:"used"`
	Over bool      `json:"over"`
}

type metricsJSON struct {
	Metrics []metricJSON `json:"metrics"`
}

// capacity tells admins how all limits stand: now, and in the windows to come
// that have something in them.
func (a *api) capacity(w http.ResponseWriter, r *http.Request) error {
	if _, err := a.admin(r); err != nil {
		return err
	}
	var all []capacity.Usage
	limits := a.Capacity.Limits()
	err := a.Capacity.View(r.Context(), func(m *capacity.Model, now time.Time) { all = m.Usage(limits, now) })
	if err != nil {
		return err
	}
	canvas, err := a.Board.Snapshot(r.Context())
	if err != nil {
		return err
	}
	all = append(all, capacity.Usage{Metric: capacity.HoldBlocks, Limit: limits.HeldBlocks, Used: int64(canvas.Counts.Held)})
	list := metricsJSON{Metrics: []metricJSON{}}
	for _, u := range all {
		list.Metrics = append(list.Metrics, metricOf(u))
	}
	reply.JSON(w, r, http.StatusOK, list)
	return nil
}

func metricOf(u capacity.Usage) metricJSON {
	over := func(used int64) bool { return capacity.Use{Metric: u.Metric, Used: used, Limit: u.Limit}.Over() }
	m := metricJSON{
		Metric: u.Metric, Window: u.Metric.WindowName(), Hard: u.Metric.Hard(), Limit: u.Limit, Used: u.Used, Over: over(u.Used), Windows: []windowJSON{},
	}
	for _, w := range u.Windows {
		m.Windows = append(m.Windows, windowJSON{At: w.At, Used: w.Used, Over: over(w.Used)})
	}
	return m
}
