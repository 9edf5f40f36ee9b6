package account

import "testing"

func FuzzParsePHC(f *testing.F) {
	f.Add(newHasher(DefaultCost()).nobodys())
	f.Add("$argon2id$v=19$m=1,t=1,p=1$AA$")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parsePHC(s)
		if err != nil {
			return
		}
		again, err := parsePHC(p.String())
		if err != nil || again.String() != p.String() {
			t.Errorf("%q reads %q, then %q (%v)", s, p.String(), again.String(), err)
		}
	})
}
