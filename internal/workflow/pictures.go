package workflow

import (
	"cmp"
	"fmt"
	"slices"

	"tuval/internal/creative"
	"tuval/internal/rental"
)

// pictures are the image, its review, and what replaces it later.
func (d *drawing) pictures() {
	all := slices.SortedFunc(slices.Values(d.Creatives), func(a, b creative.Creative) int { return cmp.Compare(a.Revision, b.Revision) })
	i := slices.IndexFunc(all, approved)
	if i < 0 {
		d.next(d.image(all))
		d.next(d.review(all))
		return
	}
	sent, decided := all[i].SubmittedAt, all[i].DecidedAt
	d.next(Step{Kind: Image, State: Done, At: &sent, Note: version(all[i])})
	d.next(Step{Kind: Review, State: Done, At: decided, Note: rejections(all[:i])})
	d.replacement(all[i+1:])
}

// approved reports whether the revision was approved, be it replaced since.
func approved(c creative.Creative) bool {
	return c.State == creative.Approved || c.State == creative.Superseded && c.DecidedAt != nil
}

// image is what the buyer has to send before any picture was approved.
func (d *drawing) image(all []creative.Creative) Step {
	s := Step{Kind: Image, State: d.waits()}
	open := d.Rental.State == rental.Paid
	if len(all) == 0 {
		if open {
			s.State, s.Due, s.Fixed = Now, d.Rental.ApproveBy, true
		}
		return s
	}
	last := all[len(all)-1]
	s.State, s.At, s.Note = Done, &last.SubmittedAt, version(last)
	if last.State == creative.Rejected && open {
		s.State, s.Due, s.Fixed, s.Note = Now, d.Rental.ApproveBy, true, "another one is needed"
	}
	return s
}

// review is the decision about the first picture while there is none in its
// favour.
func (d *drawing) review(all []creative.Creative) Step {
	s := Step{Kind: Review, State: d.waits(), Note: rejections(all)}
	if len(all) == 0 {
		return s
	}
	last := all[len(all)-1]
	switch last.State {
	case creative.Pending:
		if !d.closed() {
			s.State, s.Due, s.Fixed = Now, d.Rental.ApproveBy, true
		}
	case creative.Rejected:
		s.State, s.At = Failed, last.DecidedAt
		if last.Reason != nil {
			s.Note = *last.Reason
		}
	case creative.Approved, creative.Superseded:
	}
	return s
}

// replacement is the latest picture that was sent after the approved one.
func (d *drawing) replacement(later []creative.Creative) {
	if len(later) == 0 {
		return
	}
	last := later[len(later)-1]
	s := Step{Kind: Replace, State: d.waits(), Note: version(last), Branch: true}
	switch last.State {
	case creative.Pending:
		if !d.closed() {
			s.State = Now
		}
	case creative.Rejected:
		s.State, s.At = Failed, last.DecidedAt
	case creative.Approved:
		s.State, s.At = Done, last.DecidedAt
	case creative.Superseded: // by the end of the rental, before anybody decided
		if last.DecidedAt != nil {
			s.State, s.At = Done, last.DecidedAt
		}
	}
	d.add(s, string(Review))
}

func version(c creative.Creative) string {
	if c.Revision <= 1 {
		return ""
	}
	return fmt.Sprintf("version %d", c.Revision)
}

func rejections(before []creative.Creative) string {
	n := 0
	for _, c := range before {
		if c.State == creative.Rejected {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "after one rejection"
	}
	return fmt.Sprintf("after %d rejections", n)
}
