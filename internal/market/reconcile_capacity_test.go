package market_test

import (
	"testing"

	"tuval/internal/capacity"
)

// Counters that differ from the ledger are found, told once, and over when
// they agree again. They are never mended silently.
func TestReconcileComparesTheCounters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, launch(60, 200_000))
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	at := w.hour(2)
	_, err := b.tryCheckout(h.Key, chosen(at))
	w.must(err)
	w.finds(w.pass(), map[string]int{})
	const off = `UPDATE capacity_counters SET used = used + $2 WHERE metric = $1`
	w.exec(off, capacity.ReviewImages, 1)
	for range 2 {
		w.finds(w.pass(), map[string]int{"capacity counter differs": 1})
	}
	if n := w.anomalies("capacity counter differs"); n != 1 {
		t.Errorf("%d anomalies", n)
	}
	w.counts(at, 2, 2_400)
	w.exec(off, capacity.ReviewImages, -1)
	w.finds(w.pass(), map[string]int{})
	w.intact()
}
