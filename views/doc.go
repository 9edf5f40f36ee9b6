// Package views renders the pages of Tuval. It owns every piece of HTML that
// the site sends, whole pages and the fragments that htmx swaps in, and
// promises that both come from the same components.
//
// Views are pure: they read no clock, no database and no request. A page gets
// one struct whose strings are already formatted (amounts with their currency,
// times with their zone, counts with their separators), so that a page can be
// tested, or looked at in views/stories, without anything behind it. Packages
// of the domain are not imported here; handlers translate.
//
// # Page and Layout
//
// Each page struct embeds [Page], and each page template begins with
//
//	@Layout(p.Page) { ... }
//
// [Page.Private] marks pages that belong to somebody. [Page.Asset] turns the name of a static file into its hashed address
// (static.Assets.Path). [Page.Modules] names ES modules that load after the
// first paint. The content goes into <main class="main"><div class="wrap">.
//
// # Components
//
//	@Icon("clock")                                     inline SVG, decorative
//	@Button(ButtonView{Kind: "primary"}) { Pay }       kinds: primary, "", quiet, danger
//	@Link(LinkView{Href: "/", Kind: "primary"}) { .. } an anchor that looks like a button
//	@Field(FieldView{Name: "weeks", Label: "Weeks"})   label, hint, error, value kept; input, textarea or select
//	@Choices(ChoicesView{...})                         radio buttons as a group
//	@Tick(TickView{Name: "confirm", Label: ".."})      a box to be ticked before something is done; value yes
//	@Hidden("request_id", id)                          hidden input
//	@Notice(NoticeView{Kind: "error", Title: ".."}) {} kinds: info, success, warning, error
//	@Problems([]Problem{{Field: "link", Text: ".."}})  summary above a form, links to the fields
//	@StateChip("live", "On the canvas")                state with its mark (see markOf)
//	@Countdown(CountdownView{Seconds: 581, ...})       server's remaining time, ticks in the browser
//	@Price(PriceView{Amount: "2,400.00 USD", Per: "a week"})
//	@Facts([]Fact{{"Size", "6 × 4 blocks"}})           description list
//	@Steps([]StepView{{State: "now", Title: ".."}})    states: done, now, next, failed
//	@Empty("image", "Nothing here yet") { ... }
//
// # Classes
//
// Compositions: wrap, stack (stack-s, stack-l, stack-xl), cluster, between,
// tiles, with-side (its one child becomes two columns), narrow, prose,
// page-head with lead. Things: card, card-flush, eyebrow, form, input,
// table-box > table (numbers: class n; with table-rows and data-label on each td it
// becomes a list of rows on small screens), chip, mark, progress, notice, empty.
// Helpers: muted, small, serif, mono, num, nowrap, clip, push, pixelated,
// visually-hidden, no-print, only-print, needs-js (hidden without scripts).
// Rules that one page alone needs go into static/css/pages.css, layer pages.
// No style attributes: the Content-Security-Policy refuses them. Dynamic
// geometry is drawn as SVG or with width and height attributes.
//
// # htmx
//
// [Page.HTMX] loads it. Every form that posts with it carries
// hx-post, hx-target="#ID", hx-swap="outerHTML" and hx-sync="this:drop", and
// method and action for readers without scripts. 4xx answers must contain the
// element of that ID, else their heading is shown as a toast; 5xx answers
// always become a toast with the X-Request-Id and leave the page as it is.
// hx-disable is not needed: app.js keeps a form from being sent twice.
//
// # Behaviour by data attributes (static/js)
//
//	form method=post            guarded: a second submit while one is on its way is
//	                            dropped; buttons come back from the back/forward cache.
//	                            data-many on the form switches the guard off. Of the
//	                            forms inside an element with data-one, one at a time.
//	data-countdown="581"        seconds that remain by the server; at 0 the element's
//	                            data-done is done: "reload" asks the server for the page
//	                            again, "event" only sends tuval:elapsed. data-gone holds
//	                            the text shown at 0.
//	data-upload="ID"            on a form with enctype multipart/form-data: sent with
//	                            progress into its <progress max=1 hidden data-progress>
//	                            and [data-progress-text] (a role=status). The request
//	                            says HX-Request: true and HX-Target: ID; the answer is
//	                            HX-Redirect, or a fragment (or page) with the element of
//	                            that ID, which takes the place of the present one. The
//	                            chosen file is carried over. So no hx-post beside it.
//	data-preview="ID"           on <input type=file>: draws the chosen picture into the
//	                            element ID, a <canvas> whose width and height are the
//	                            rect's real pixels (w*10, h*10). Radio buttons named
//	                            "fit" of the same form choose cover or contain.
//	                            Elements [data-preview-for=ID] (a figure, say) start
//	                            hidden and show when there is something to see;
//	                            [data-preview-text=ID] gets name and size of the file.
//	                            data-max-bytes on the input refuses larger files early.
//	data-copy="text"            button: copies, says so.
//	data-print                  button: prints the page.
//	data-poll="3"               asks for this page again every n seconds until the
//	                            element with this attribute is no longer in the answer
//	                            (the "confirming" state after Stripe).
package views
