package text_test

import (
	"strconv"
	"testing"

	"tuval/internal/text"
)

func TestInt(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{"1": 1, "100": 100, " 7 ": 7, "007": 7, "42\r\n": 42} {
		if got, err := text.Int("col", in, 1, 100); err != nil || got != want {
			t.Errorf("Int(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	if got, err := text.Int("x", "-3", -5, 5); err != nil || got != -3 {
		t.Errorf("Int(-3) = %d, %v", got, err)
	}
}

func TestIntRefused(t *testing.T) {
	t.Parallel()
	for in, says := range map[string]string{
		"": "missing", "  ": "missing",
		"0": "must be from 1 to 100.", "101": "must be from 1 to 100.", "-1": "must be from 1 to 100.",
		"-0":                                   "must be from 1 to 100.",
		"99999999999999999999999999999999999":  "must be from 1 to 100.",
		"-99999999999999999999999999999999999": "must be from 1 to 100.",
		"1.5":                                  "digits 0 to 9", "1e1": "digits 0 to 9", "NaN": "digits 0 to 9", "Infinity": "digits 0 to 9",
		"\u0663": "digits 0 to 9", "\uff11": "digits 0 to 9", "+3": "digits 0 to 9", "1,000": "digits 0 to 9",
		"1_0": "digits 0 to 9", "0x10": "digits 0 to 9", "1 0": "digits 0 to 9", "-": "digits 0 to 9",
		"--1": "digits 0 to 9", "1\x00": "digits 0 to 9", "\u00a01": "digits 0 to 9", "\xff": "digits 0 to 9",
	} {
		_, err := text.Int("col", in, 1, 100)
		wantFault(t, err, "col", says)
		wantFault(t, err, "col", "100")
	}
}

func TestNumberSpeaksOfItsLabel(t *testing.T) {
	t.Parallel()
	_, err := text.Number{Field: "col", Label: "Column", Min: 1, Max: 100}.Read("0")
	wantFault(t, err, "col", "Column must be from 1 to 100.")
}

func FuzzInt(f *testing.F) {
	for _, s := range []string{"1", "-1", "00", "1.5", "\u0663", "9223372036854775808"} {
		f.Add(s, -5, 1000)
	}
	f.Fuzz(func(t *testing.T, s string, low, high int) {
		n, err := text.Int("n", s, low, high)
		if err != nil {
			return
		}
		if n < low || n > high {
			t.Errorf("%q: %d is outside %d to %d", s, n, low, high)
		}
		if again, err := text.Int("n", strconv.Itoa(n), low, high); err != nil || again != n {
			t.Errorf("%q: %d is read as %d, %v", s, n, again, err)
		}
	})
}
