package views

// LoginPage asks for an e-mail address and mails a sign-in link to it. Fields:
// email, next (where to go afterwards, a path of ours).
type LoginPage struct {
	Page
	Email    string
	Next     string
	Problems []Problem // Field: email or ""
	// Sent turns the page into "look into your mail". It is the same whether the
	// address is known or not.
	Sent    bool
	DevMail bool // development: the mailbox is at /dev/mail
}

// LinkState is what became of a mailed sign-in link.
type LinkState string

// The states of a sign-in link. Opening one changes nothing: scanners do.
const (
	LinkReady   LinkState = "ready"
	LinkUsed    LinkState = "used"
	LinkExpired LinkState = "expired"
)

// LoginLinkPage is what a mailed sign-in link opens. Only its button acts.
type LoginLinkPage struct {
	Page
	State  LinkState
	Action string // where the button posts to, the link's own path
	Email  string // whom it signs in, when State is ready
}

// PrivatePage stands where a rental's page would: for a browser that has no
// right to it, and just the same for an id that does not exist. Fields of its
// form (to /login): rental, next.
type PrivatePage struct {
	Page
	ID   string // as it stands in the address
	Kept *Kept  // what was being sent when the session was found to be over
}

// AccountPage lists a person's rentals.
type AccountPage struct {
	Page
	Email   string // empty: not signed in, only this browser's rentals
	Rentals []AccountRental
}

// AccountRental is one line of the account.
type AccountRental struct {
	ID       string
	Place    PlaceView
	Title    string // of the picture, may be empty
	Image    string // address of the picture at 1x, may be empty
	State    string // for StateChip
	Label    string
	Deadline string // what happens next: "Hold ends", "Leaves the canvas"
	At       Moment
}

func (r AccountRental) name() string {
	return or(r.Title, r.Place.Size())
}

func (p LoginPage) title() string {
	if p.Sent {
		return "Look into your mail"
	}
	return "Sign in"
}
