package payment

// Transition is one arrow of a state machine of this package.
type Transition[S comparable] struct {
	From, To S
	Why      string // what makes it, in words
}

// Transitions is the machine of a payment. Money that arrives is recorded from
// every state.
func Transitions() []Transition[State] {
	return []Transition[State]{
		{Open, Processing, "the buyer is done and the bank moves the money"},
		{Open, Paid, "the money is there"},
		{Open, Expired, "its time is over, or the buyer gave it up"},
		{Open, Failed, "the bank did not make the payment"},
		{Processing, Paid, "the money is there"},
		{Processing, Failed, "the bank did not make the payment"},
		{Expired, Processing, "the bank moves money that comes late"},
		{Expired, Paid, "the money came late"},
		{Failed, Paid, "the money came after all"},
	}
}

// RefundTransitions is the machine of a refund.
func RefundTransitions() []Transition[RefundState] {
	return []Transition[RefundState]{
		{RefundPending, RefundSucceeded, "the money went back"},
		{RefundPending, RefundFailed, "Stripe refused it, or the bank did"},
		{RefundSucceeded, RefundFailed, "the bank sent it back later"},
	}
}

// DisputeTransitions is the machine of a dispute.
func DisputeTransitions() []Transition[DisputeState] {
	return []Transition[DisputeState]{
		{DisputeOpen, DisputeWon, "decided for us: the money is back"},
		{DisputeOpen, DisputeLost, "decided for the payer"},
	}
}
