package web_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"tuval/internal/stripesim"
)

// A payment whose webhook never came is found by the button.
func TestAnAdminComparesNow(t *testing.T) {
	s := newStack(t)
	admin, b := s.admin(), s.browser()
	admin.get("/admin/anomalies").says("There was none yet.", "Nothing waits for a person.")
	path := b.hold(1, 1, 2, 2)
	b.checkout(path).wants(http.StatusSeeOther)
	if _, err := s.sim.AddFault(s.ctx(), stripesim.Fault{Kind: stripesim.FaultMute}); err != nil {
		t.Fatal(err)
	}
	s.pay(s.session())
	admin.follow(admin.post("/admin/reconcile").wants(http.StatusSeeOther)).says("Compared: found", adminEmail)
	s.work()
	b.get(path).says("Paid. Now your picture")
	admin.follow(admin.post("/admin/reconcile").wants(http.StatusSeeOther)).says("found nothing that was not as it should be")
	conn := must(s.pool.Acquire(s.ctx()))
	defer conn.Release()
	if _, err := conn.Exec(s.ctx(), `SELECT pg_advisory_lock($1)`, int64(0x7475_7661_6c72_6563)); err != nil {
		t.Fatal(err)
	}
	admin.post("/admin/reconcile").wants(http.StatusConflict).whole(true).says("Not begun", "under way already")
	if _, err := conn.Exec(s.ctx(), `SELECT pg_advisory_unlock_all()`); err != nil {
		t.Fatal(err)
	}
	b.post("/admin/reconcile").wants(http.StatusForbidden)
	s.browser().post("/admin/reconcile").wants(http.StatusUnauthorized)
}

// Deliveries that look like Stripe's and are refused are told to an admin, once.
func TestRefusedWebhooksAreTold(t *testing.T) {
	for name, signature := range map[string]func(string) string{
		"the signature was not made with a configured secret": func(p string) string { return sign(p, time.Now(), "whsec_other") },
		"the signature is right, but too old by our clock":    func(p string) string { return sign(p, time.Now().Add(-time.Hour), webhookSecret) },
		"": func(string) string { return "nonsense" },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStack(t)
			for i := range 3 {
				payload := fmt.Sprintf(eventBody, fmt.Sprint(i), "checkout.session.completed")
				s.deliver(payload, signature(payload)).wants(http.StatusBadRequest)
			}
			page := s.admin().get("/admin/anomalies")
			if name == "" {
				page.saysNot("webhook refused")
				return
			}
			page.says("webhook refused", name)
			if n := s.count(`SELECT count(*) FROM anomalies`); n != 1 {
				t.Errorf("%d anomalies", n)
			}
		})
	}
}
