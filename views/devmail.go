package views

// DevMailPage lists the mails kept in development.
type DevMailPage struct {
	Page
	Mails []DevMail
}

// DevMail is one kept mail.
type DevMail struct {
	ID      string
	To      string
	Subject string
	At      Moment
}

// DevMailMessagePage shows one kept mail. Links are those found in the text, so
// that they can be followed; HTML is the source of the HTML part.
type DevMailMessagePage struct {
	Page
	Mail    DevMail
	From    string
	Text    string
	Links   []string
	HTML    string
	HTMLURL string // shows the HTML part alone, or empty
}
