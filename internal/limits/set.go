package limits

import "time"

// Set is the rates of the site, each keyed by Key of the client's address as
// a string.
type Set struct {
	SignIn  *Keyed // passwords tried, sign-in links asked for and used
	Holds   *Keyed // holds made, kept and replaced
	Uploads *Keyed // pictures decoded, which costs most
	API     *Keyed // all other calls that change or read something
}

// New makes the rates. Off, each allows everything; limits of holds and of
// capacity are not rates and stay.
func New(on bool) *Set {
	if !on {
		return &Set{}
	}
	return &Set{
		SignIn:  NewKeyed(Rate{10, 30 * time.Second}, "Too many sign-in attempts from your network. Please wait a little.", time.Now),
		Holds:   NewKeyed(Rate{100, time.Second}, "Too many holds from your network at once. Please wait a little.", time.Now),
		Uploads: NewKeyed(Rate{20, 15 * time.Second}, "Too many uploads from your network at once. Please wait a little.", time.Now),
		API:     NewKeyed(Rate{300, 50 * time.Millisecond}, "Too many requests from your network at once. Please wait a little.", time.Now),
	}
}
