package web_test

import (
	"tuval/internal/board"
	"tuval/internal/rental"
)

func (s *stack) board() *board.Board {
	return board.New(s.pool, rental.Terms{RenewalWindow: s.market.Rules().RenewalWindow})
}
