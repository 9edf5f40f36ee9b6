package stripesim_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tuval/internal/stripesim"
)

func TestForms(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                  "[]",
		"a=1&b=2":                           "[[a 1] [b 2]]",
		"b=2&a=1":                           "[[a 1] [b 2]]",
		"a=1&a=2":                           "[[a 2]]",
		"a[b][c]=x":                         "[[a[b][c] x]]",
		"a%5Bb%5D=x+y%26":                   "[[a[b] x y&]]",
		"a[]=x&a[]=y":                       "[[a[0] x] [a[1] y]]",
		"a[0]=x&a[1]=y":                     "[[a[0] x] [a[1] y]]",
		"i[][n]=1&i[][m]=2&i[][n]=3":        "[[i[0][m] 2] [i[0][n] 1] [i[1][n] 3]]",
		"metadata[a.b]=1&metadata[%C3%BC]=": "[[metadata[a.b] 1] [metadata[ü] ]]",
		"a":                                 "[[a ]]",
		"&&a=1&":                            "[[a 1]]",
	} {
		got, err := stripesim.FlatForm(in)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{
		"a[b=1", "a]=1", "[a]=1", "=1", "a[b]c=1", "a[[b]]=1", "a%zz=1", "a=%zz", "a=1&a[b]=2", "a[b]=1&a=2", "a[b][c]=1&a[b]=2",
		"a" + strings.Repeat("[b]", 20) + "=1", strings.Repeat("a=1&", 3000),
	} {
		if got, err := stripesim.FlatForm(in); err == nil {
			t.Errorf("%.40q was read as %v", in, got)
		}
	}
}

func TestAFormOfAnyOrderIsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z]{1,3}(\[[a-z]{1,3}\]){0,2}`)
		pairs := rapid.SliceOfNDistinct(name, 1, 10, rapid.ID[string]).Draw(t, "names")
		var form []string
		for _, n := range pairs {
			form = append(form, url.QueryEscape(n)+"="+url.QueryEscape(rapid.String().Draw(t, "value")))
		}
		one, err1 := stripesim.FlatForm(strings.Join(form, "&"))
		slices.Reverse(form)
		other, err2 := stripesim.FlatForm(strings.Join(form, "&"))
		if (err1 == nil) != (err2 == nil) || err1 == nil && fmt.Sprint(one) != fmt.Sprint(other) {
			t.Fatalf("%q: %v, %v and %v, %v", form, one, err1, other, err2)
		}
	})
}

func FuzzCheckoutForm(f *testing.F) {
	f.Add("mode=payment&success_url=https%3A%2F%2Fx.test%2F%7BCHECKOUT_SESSION_ID%7D&line_items[0][quantity]=1&line_items[0][price_data][currency]=usd" +
		"&line_items[0][price_data][unit_amount]=100&line_items[0][price_data][product_data][name]=x&metadata[a]=b&expires_at=9999999999")
	f.Add("mode[]=payment&line_items=x&payment_method_types[a][b]=card")
	f.Add("line_items[][quantity]=1&line_items[][price_data][unit_amount]=9223372036854775807&customer_email=a@b.c")
	f.Fuzz(func(_ *testing.T, form string) {
		_ = stripesim.ReadCheckout(form) // must not panic
	})
}
