package views

import "slices"

// titled gives a page its usual title when the handler set none.
func (p Page) titled(title string) Page {
	p.Title = or(p.Title, title)
	return p
}

// unlisted keeps a page out of search engines.
func (p Page) unlisted(title string) Page {
	p.NoIndex = true
	return p.titled(title)
}

// private says that a page belongs to somebody.
func (p Page) private(title string) Page {
	p.Private = true
	return p.unlisted(title)
}

// uses adds the modules that a page's own behaviour lives in.
func (p Page) uses(modules ...string) Page {
	p.Modules = append(slices.Clone(p.Modules), modules...)
	return p
}

// htmx says that the page has hx- attributes.
func (p Page) htmx() Page {
	p.HTMX = true
	return p
}
