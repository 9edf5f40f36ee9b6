package web

// routes is every address of the site.
func (s *site) routes() {
	// open: the same for everybody; no session is read.
	open := group{site: s}
	// public: pages for everybody that know who looks.
	public := group{site: s, session: true}
	// buyer: pages that belong to somebody.
	buyer := group{site: s, session: true, private: true}
	// admin: pages of the operator's people.
	admin := group{site: s, session: true, private: true, allow: admins}
	// webhook: signed by who sends it.
	webhook := group{site: s, foreign: true}

	open.mount("GET /assets/", s.Assets.Handler())
	open.mount("GET /robots.txt", s.Assets.File("robots.txt"))
	open.mount("GET /favicon.ico", s.Assets.File("img/icon.svg"))
	open.mount("GET /site.webmanifest", s.Assets.File("site.webmanifest"))
	open.on("GET /canvas/{file}", s.canvasPicture)
	open.on("GET /pictures/{hash}", s.picture)
	open.on("GET /go/{public_id}", s.follow)
	open.on("GET /healthz", s.healthz)
	open.on("GET /readyz", s.readyz)
	open.on("GET /metrics", s.metrics)

	public.on("GET /{$}", s.canvas)
	public.on("POST /holds", s.hold)
	public.on("GET /areas", s.areas)
	public.on("GET /areas/{public_id}", s.area)
	public.on("GET /about", s.about)
	open.mount("GET /api/v1/board", s.api())
	open.mount("GET /api/openapi.yaml", s.api())
	public.mount("/api/", s.api())

	buyer.on("GET /rentals/{id}", s.rental)
	buyer.on("POST /rentals/{id}/keep", s.keep)
	buyer.on("POST /rentals/{id}/cancel", s.cancel)
	buyer.on("POST /rentals/{id}/checkout", s.checkout)
	buyer.on("GET /rentals/{id}/return", s.comeBack)
	buyer.on("POST /rentals/{id}/extend", s.extend)
	buyer.on("POST /rentals/{id}/renew", s.renew)
	buyer.on("POST /rentals/{id}/withdraw", s.withdraw)
	buyer.on("POST /rentals/{id}/contact", s.correctContact)
	buyer.on("POST /rentals/{id}/creative", s.submit)
	buyer.on("GET /rentals/{id}/pictures/{hash}", s.privatePicture)
	buyer.on("POST /rentals/{id}/signin-link", s.mailRentalLink)
	buyer.on("GET /account", s.account)
	buyer.on("GET /login", s.login)
	buyer.on("POST /login", s.mailLink)
	buyer.on("GET /login/{token}", s.loginLink)
	buyer.on("POST /login/{token}", s.useLink)
	buyer.on("POST /logout", s.logout)
	buyer.on("GET /admin/login", s.adminLogin)
	buyer.on("POST /admin/login", s.adminSignIn)
	buyer.on("POST /admin/logout", s.logout)

	admin.on("GET /admin", s.adminHome)
	admin.on("GET /admin/{$}", s.adminHome)
	admin.on("GET /admin/reviews", s.reviews)
	admin.on("POST /admin/creatives/{id}/approve", s.approve)
	admin.on("POST /admin/creatives/{id}/reject", s.reject)
	admin.on("GET /admin/rentals", s.adminRentals)
	admin.on("GET /admin/rentals/{id}", s.adminRental)
	admin.on("POST /admin/rentals/{id}/refund", s.refundRental)
	admin.on("POST /admin/rentals/{id}/hide", s.hideRental)
	admin.on("POST /admin/rentals/{id}/unhide", s.unhideRental)
	admin.on("POST /admin/rentals/{id}/close", s.removeRental)
	admin.on("GET /admin/payments", s.adminPayments)
	admin.on("GET /admin/anomalies", s.anomalies)
	admin.on("POST /admin/reconcile", s.reconcile)
	admin.on("POST /admin/anomalies/{id}/remedy", s.remedy)
	admin.on("POST /admin/anomalies/{id}/resolve", s.resolve)
	admin.on("GET /admin/blocked", s.blocked)
	admin.on("POST /admin/blocked", s.block)
	admin.on("POST /admin/blocked/{id}/delete", s.unblock)
	admin.on("GET /admin/admins", s.adminList)
	admin.on("/admin/jobs/", s.jobs)

	webhook.on("POST /webhooks/stripe", s.stripe)

	if s.Settings.Mailbox {
		// dev: for whoever sits at this machine.
		dev := group{site: s, session: true, private: true, allow: s.thisMachine}
		dev.on("GET /dev/mail", s.devMails)
		dev.on("GET /dev/mail/{id}", s.devMessage)
		dev.on("GET /dev/mail/{id}/html", s.devHTML)
		dev.on("GET /dev/clock", s.devClock)
		dev.on("POST /dev/clock", s.moveClock)
	}
}
