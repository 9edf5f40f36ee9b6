package account

import "context"

// FillTurns occupies all places for hashing until the returned function runs.
func FillTurns(a *Admins) (release func()) {
	for range cap(a.hasher.turn) {
		a.hasher.turn <- struct{}{}
	}
	return func() {
		for range cap(a.hasher.turn) {
			<-a.hasher.turn
		}
	}
}

// Hash hashes a password as AddAdmin does.
func Hash(ctx context.Context, a *Admins, password string) (string, error) {
	return a.hasher.hash(ctx, password)
}
