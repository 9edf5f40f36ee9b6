package limits

// SetMost makes the memory of a rate small enough to fill.
func SetMost(k *Keyed, n int) { k.most = n }

// Len counts the callers a rate remembers.
func Len(k *Keyed) int { return len(k.buckets) }
