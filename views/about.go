package views

// AboutPage says the rules and prices of this installation. The numbers come
// from its settings, already in words.
type AboutPage struct {
	Page
	Currency      string // "USD"
	PerPixel      string // price of a pixel-week, "1.00 USD"
	PerBlock      string // price of a block-week, "100.00 USD"
	Examples      []PriceExample
	Hold          string // "10 minutes"
	HoldMost      string // longest hold before a payment, "90 minutes"
	HoldLimits    string // what unpaid holds may take, in a sentence
	Approval      string // "30 days"
	Renewal       string // "48 hours"
	MaxBlocks     string // most blocks in one hold, "1,000"
	MaxWeeks      string // "52"
	MaxGoLive     string // "14 days"
	Contact       string // e-mail address of the operator, or empty
	FreeBlocks    string // blocks free now, "9,412", or empty
	MinimumAmount string // smallest payment, "0.50 USD"
}

// PriceExample is one line of the price table.
type PriceExample struct {
	Size   string // "6 × 4 blocks"
	Pixels string // "60 × 40 px"
	Week   string // "2,400.00 USD"
	Month  string // price of 4 weeks
}
