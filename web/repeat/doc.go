// Package repeat makes it safe to send a request again, for what the market
// does not remember itself: verbs that have several transactions, or none of
// their own to put an answer in. (Holds, keeps and submissions are remembered
// by the market, in their own transactions.)
//
// A request is recognised by its key within an endpoint and a caller, for 24
// hours. Only a success is remembered: after a refusal the key may be used
// again. The same key with another body is a fault of the key.
package repeat
