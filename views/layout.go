package views

import (
	"strings"

	"github.com/a-h/templ"
)

// htmxConfig suits the Content-Security-Policy and the way this site answers:
// no injected style sheet, no history of its own, requests to this origin
// only, and answers of 5xx leave the page as it is (app.js shows a toast).
const htmxConfig = `{"includeIndicatorCSS":false,"history":false,"mode":"same-origin","defaultSwap":"outerHTML","defaultTimeout":30000,"defaultSettleDelay":0,"noSwap":[204,304,"5xx"]}`

func pageTitle(title string) string {
	if title == "" {
		return "Tuval"
	}
	return title + " · Tuval"
}

func (p Page) asset(name string) string {
	if p.Asset == nil {
		return "/assets/" + name
	}
	return p.Asset(name)
}

func (p Page) modules() string {
	paths := make([]string, len(p.Modules))
	for i, name := range p.Modules {
		paths[i] = p.asset(name)
	}
	return strings.Join(paths, " ")
}

// current marks the link to the place where the reader already is.
func current(path, link string) templ.Attributes {
	switch {
	case path == link:
		return templ.Attributes{"aria-current": "page"}
	case link != "/" && strings.HasPrefix(path, link+"/"):
		return templ.Attributes{"aria-current": "true"}
	}
	return nil
}
