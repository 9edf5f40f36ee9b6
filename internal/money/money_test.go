package money_test

import (
	"math"
	"testing"

	"tuval/internal/money"
)

func TestStringNeverLosesADigit(t *testing.T) {
	for _, c := range []struct {
		m    money.Money
		want string
	}{
		{money.Money{Amount: 240000, Currency: "usd"}, "2,400.00 USD"},
		{money.Money{Amount: 5, Currency: "usd"}, "0.05 USD"},
		{money.Money{Amount: -1999, Currency: "eur"}, "-19.99 EUR"},
		{money.Money{Amount: 500, Currency: "jpy"}, "500 JPY"},
		{money.Money{Amount: 1234567, Currency: "kwd"}, "1,234.567 KWD"},
		{money.Money{Amount: 0, Currency: "usd"}, "0.00 USD"},
		{money.Money{Amount: 7, Currency: "xxx"}, "7 minor units of xxx"},
	} {
		if got := c.m.String(); got != c.want {
			t.Errorf("%+v reads %q, want %q", c.m, got, c.want)
		}
	}
}

func TestPricesThatDoNotFitAreSaidSo(t *testing.T) {
	if week, ok := money.Weekly(2400, 100); !ok || week != 240000 {
		t.Errorf("6 x 4 blocks cost %d, %v", week, ok)
	}
	if total, ok := money.Total(240000, 4); !ok || total != 960000 {
		t.Errorf("four weeks cost %d, %v", total, ok)
	}
	if _, ok := money.Weekly(1_000_000, math.MaxInt64/2); ok {
		t.Error("an overflow passed for a price")
	}
	if _, ok := money.Total(-1, 3); ok {
		t.Error("a negative price passed")
	}
}

func TestChargeableKnowsTheLimits(t *testing.T) {
	usd, _ := money.Lookup("USD")
	kwd, _ := money.Lookup("kwd")
	for _, c := range []struct {
		cur    money.Currency
		amount int64
		want   bool
	}{{usd, 49, false}, {usd, 50, true}, {usd, 99999999, true}, {usd, 100000000, false}, {kwd, 505, false}, {kwd, 510, true}} {
		if got := c.cur.Chargeable(c.amount); got != c.want {
			t.Errorf("%d %s chargeable: %v", c.amount, c.cur.Code, got)
		}
	}
	if _, ok := money.Lookup("xyz"); ok {
		t.Error("an unknown currency was accepted")
	}
}
