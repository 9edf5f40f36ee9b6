package api

import (
	"fmt"
	"slices"
	"testing"
)

func TestPagesShowAllOfAList(t *testing.T) {
	t.Parallel()
	name := func(n int) string { return fmt.Sprint(n) }
	for _, long := range []int{0, 1, pageSize - 1, pageSize, pageSize + 1, 2 * pageSize, 3*pageSize + 7} {
		var all, seen []int
		for i := range long {
			all = append(all, i)
		}
		after, pages := "", 0
		for more := true; more; more = after != "" {
			var page []int
			page, after = pageOf(all, after, name)
			if pages++; len(page) > pageSize || pages > long+1 {
				t.Fatalf("page %d of %d things has %d", pages, long, len(page))
			}
			seen = append(seen, page...)
		}
		if !slices.Equal(seen, all) {
			t.Errorf("of %d things %d are seen", long, len(seen))
		}
	}
	// What a page ended with is gone: nothing may be missed.
	if page, _ := pageOf([]int{1, 2, 4}, "3", name); len(page) != 3 {
		t.Errorf("behind what is gone are %v", page)
	}
}
