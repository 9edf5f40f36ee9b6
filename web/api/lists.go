package api

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"tuval/internal/fault"
)

// pageSize is how many things a page of a list has; mostListed is how many of
// what waits for people are looked through at all.
const (
	pageSize   = 100
	mostListed = 10_000
)

// param is a parameter of the address, empty when it is not there.
func param(r *http.Request, name string) (string, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "", malformed("The address is not well-formed.").Because(err)
	}
	switch all := query[name]; {
	case len(all) == 0:
		return "", nil
	case len(all) > 1:
		return "", fault.Field(name, name+" was sent more than once")
	case !utf8.ValidString(all[0]) || strings.Contains(all[0], "\x00"):
		return "", fault.Field(name, name+" is not text (UTF-8)")
	default:
		return all[0], nil
	}
}

// pageOf is the page of a list behind the thing that after names, and what
// names its last thing if there are more. When that thing has left the list
// meanwhile the list begins again: things are rather seen twice than missed.
func pageOf[T any](all []T, after string, name func(T) string) ([]T, string) {
	for i, one := range all {
		if after != "" && name(one) == after {
			all = all[i+1:]
			break
		}
	}
	if len(all) <= pageSize {
		return all, ""
	}
	return all[:pageSize], name(all[pageSize-1])
}
