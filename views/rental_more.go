package views

// MoreForm asks for more weeks: an extension of a rental that is live, or the
// renewal of one that has ended. Fields: weeks, expected_amount (sent by
// scripts only).
type MoreForm struct {
	Verb     string // "extend" or "renew": where it posts to
	Weeks    int    // the chosen number
	Choices  []WeeksChoice
	PerWeek  string       // today's price of a week
	Open     *PayingPanel // its payment page, if one is open
	Pending  string       // "4,800.00 USD for 2 weeks": money under way; nothing can be chosen then
	Problems []Problem    // Field: weeks or ""
}

// WithdrawPanel is the way back before the first approval. Field: confirm.
type WithdrawPanel struct {
	Amount   string // what goes back
	Problems []Problem
}

// ContactForm corrects the address that nobody has confirmed yet. Field:
// email.
type ContactForm struct {
	Email    string
	Problems []Problem
}

func (f MoreForm) renewal() bool { return f.Verb == "renew" }

func (f MoreForm) title() string {
	if f.renewal() {
		return "Renew"
	}
	return "Extend"
}

// about says what the weeks are added to, and what they cost.
func (f MoreForm) about() string {
	if f.renewal() {
		return "The same blocks with the same picture, without another review. The new time begins with the payment. The price is today's: " + f.PerWeek + " a week."
	}
	return "More weeks at the end of those you have, so extending early loses nothing. The price is today's: " + f.PerWeek + " a week."
}

func (f MoreForm) endWord() string {
	if f.renewal() {
		return "If you pay now, until"
	}
	return "New end"
}

func (f MoreForm) button() string {
	if f.renewal() {
		return "Pay and renew"
	}
	return "Pay and extend"
}

// weeks are the choices as the field for a number of weeks takes them.
func (f MoreForm) weeks() CheckoutForm {
	return CheckoutForm{Weeks: f.Weeks, Choices: f.Choices, Problems: f.Problems}
}
