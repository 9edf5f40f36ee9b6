package market

import (
	"fmt"
	"html"

	"tuval/internal/mailtext"
	"tuval/internal/rental"
)

// notPaid tells a buyer whose bank did not make the payment.
func notPaid(r rental.Rental, url string) mailtext.Mail {
	place := fmt.Sprintf("%d x %d blocks at column %d, row %d", r.Rect.W, r.Rect.H, r.Rect.X+1, r.Rect.Y+1)
	const what = "Your bank did not make the payment for this place on the canvas, so nothing was charged and its blocks are free again. If you still want them, choose them again and pay by card."
	return mailtext.Mail{
		Subject: "Not paid: your place on the canvas",
		Text:    fmt.Sprintf("Your payment did not arrive\n\n%s\n\nPlace: %s\n\nSee what happened: %s\n", what, place, url),
		HTML: fmt.Sprintf("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Not paid</title><body><h1>Your payment did not arrive</h1><p>%s</p><p>Place: %s</p><p><a href=\"%s\">See what happened</a></p></body></html>",
			html.EscapeString(what), html.EscapeString(place), html.EscapeString(url)),
	}
}
