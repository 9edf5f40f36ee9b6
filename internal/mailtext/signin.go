package mailtext

import (
	"fmt"
	"time"
)

// SignInLink is what the mail with a sign-in link needs.
type SignInLink struct {
	URL      string        // the page whose button signs in; works once
	Expires  time.Time     // when the link stops working
	ValidFor time.Duration // the same, from now, for people who do not read clocks
}

// SignIn writes the mail with a sign-in link. Opening the link acts on
// nothing, so mail scanners that open it use nothing up.
func SignIn(s SignInLink) Mail {
	return letter{
		Subject: "Sign in to " + siteName,
		Heading: "Your sign-in link",
		Lead: []string{fmt.Sprintf("It works once, for %s (until %s). The page it opens has a button; nothing happens before you press it.",
			minutes(s.ValidFor), at(s.Expires))},
		Action: action{"Open the sign-in page", s.URL},
		After: []string{
			"Signing in confirms that this address is yours: rentals that were paid with it then appear in your account.",
			"You did not ask for this? Then somebody typed your address by mistake. Without the link nobody gets in; you can delete this mail.",
		},
	}.mail()
}

func minutes(d time.Duration) string {
	n := int(d.Round(time.Minute) / time.Minute)
	if n == 1 {
		return "1 minute"
	}
	return fmt.Sprintf("%d minutes", n)
}
