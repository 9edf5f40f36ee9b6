package money

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Money is an amount in minor units of a currency (ISO 4217, lower case).
type Money struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// Currency says how a currency is written and what can be charged in it.
type Currency struct {
	Code     string
	Decimals int   // digits after the point; 0 for yen
	Step     int64 // amounts must be a multiple of this many minor units
	Min, Max int64 // smallest and largest charge, minor units
}

// table lists the accepted currencies with the provider's published minimum
// and maximum charge. Three-decimal currencies must be charged in tens.
func table() []Currency {
	return []Currency{
		{"usd", 2, 1, 50, 99999999},
		{"eur", 2, 1, 50, 99999999},
		{"gbp", 2, 1, 30, 99999999},
		{"chf", 2, 1, 50, 99999999},
		{"cad", 2, 1, 50, 99999999},
		{"aud", 2, 1, 50, 99999999},
		{"nzd", 2, 1, 50, 99999999},
		{"sgd", 2, 1, 50, 99999999},
		{"sek", 2, 1, 300, 99999999},
		{"nok", 2, 1, 300, 99999999},
		{"dkk", 2, 1, 250, 99999999},
		{"pln", 2, 1, 200, 99999999},
		{"czk", 2, 1, 1500, 99999999},
		{"ron", 2, 1, 200, 99999999},
		{"try", 2, 1, 1500, 99999999},
		{"mxn", 2, 1, 1000, 99999999},
		{"brl", 2, 1, 50, 99999999},
		{"inr", 2, 1, 5000, 99999999},
		{"jpy", 0, 1, 50, 99999999},
		{"bhd", 3, 10, 500, 99999990},
		{"kwd", 3, 10, 500, 99999990},
		{"jod", 3, 10, 500, 99999990},
	}
}

// Lookup returns the currency of a code, in any case, and whether it is
// accepted.
func Lookup(code string) (Currency, bool) {
	code = strings.ToLower(code)
	all := table()
	i := slices.IndexFunc(all, func(c Currency) bool { return c.Code == code })
	if i < 0 {
		return Currency{}, false
	}
	return all[i], true
}

// Codes lists the accepted currencies, for messages.
func Codes() []string {
	var codes []string
	for _, c := range table() {
		codes = append(codes, c.Code)
	}
	slices.Sort(codes)
	return codes
}

// Chargeable reports whether the provider takes a payment of this amount.
func (c Currency) Chargeable(amount int64) bool {
	return amount >= c.Min && amount <= c.Max && amount%c.Step == 0
}

// Of makes an amount of this currency.
func (c Currency) Of(amount int64) Money { return Money{Amount: amount, Currency: c.Code} }

// String writes the amount for people: grouped digits, a point, the code.
// It never loses a digit, so it can be read back by hand.
func (m Money) String() string {
	c, ok := Lookup(m.Currency)
	if !ok {
		return fmt.Sprintf("%d minor units of %s", m.Amount, m.Currency)
	}
	sign, amount := "", m.Amount
	if amount < 0 {
		sign, amount = "-", -amount
	}
	digits := fmt.Sprintf("%0*d", c.Decimals+1, amount)
	whole, rest := digits[:len(digits)-c.Decimals], digits[len(digits)-c.Decimals:]
	if rest != "" {
		rest = "." + rest
	}
	return sign + grouped(whole) + rest + " " + strings.ToUpper(c.Code)
}

func grouped(digits string) string {
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return digits
	}
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Weekly is what a rect of the given pixels costs a week, in minor units.
// It reports false when the product does not fit.
func Weekly(pixels int, perPixel int64) (int64, bool) { return times(int64(pixels), perPixel) }

// Total is the price of several weeks. It reports false when it does not fit.
func Total(perWeek int64, weeks int) (int64, bool) { return times(perWeek, int64(weeks)) }

func times(a, b int64) (int64, bool) {
	if a < 0 || b < 0 {
		return 0, false
	}
	if a == 0 || b == 0 {
		return 0, true
	}
	c := a * b
	return c, c/b == a && c > 0
}
