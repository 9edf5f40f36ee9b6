package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/a-h/templ"

	"tuval/static"
	"tuval/views"
)

// story is one state of one page.
type story struct {
	path   string // below /stories/, e.g. "canvas/taken"
	title  string // what is to be seen
	status int    // 200 when 0
	render func(base views.Page) templ.Component
}

func allStories() []story {
	return slices.Concat(
		componentStories(),
		canvasStories(),
		buyerStories(),
		adminStories(),
		workflowStories(),
	)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8090", "address to listen on")
	flag.Parse()
	if err := run(*addr); err != nil {
		slog.Error("stories", "error", err)
		os.Exit(1)
	}
}

func run(addr string) error {
	assets, err := static.New()
	if err != nil {
		return fmt.Errorf("assets: %w", err)
	}
	server := &http.Server{Addr: addr, Handler: policy(routes(assets)), ReadHeaderTimeout: 5 * time.Second}
	slog.Info("stories", "address", "http://"+addr+"/")
	return server.ListenAndServe()
}

func routes(assets *static.Assets) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /assets/", assets.Handler())
	mux.Handle("GET /robots.txt", assets.File("robots.txt"))
	base := views.Page{Asset: assets.Path, Path: "/"}
	stories := allStories()
	slices.SortStableFunc(stories, func(a, b story) int { return cmp.Compare(a.path, b.path) })
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { write(w, 0, index(base, stories)) })
	for _, s := range stories {
		mux.HandleFunc("GET /stories/"+s.path, func(w http.ResponseWriter, r *http.Request) {
			write(w, s.status, s.render(base))
		})
	}
	newFakeCanvas().mount(mux)
	mountPictures(mux)
	return mux
}

// policy sends what the product sends, so that a page that breaks it shows.
func policy(next http.Handler) http.Handler {
	const csp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
		"worker-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", csp)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Request-Id", "story-request")
		next.ServeHTTP(w, r)
	})
}

func write(w http.ResponseWriter, status int, c templ.Component) {
	var page bytes.Buffer
	if err := c.Render(context.Background(), &page); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(cmp.Or(status, http.StatusOK))
	_, _ = page.WriteTo(w)
}

func index(base views.Page, stories []story) templ.Component {
	base.Title = "Stories"
	return within(views.Layout(base), templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		for _, s := range stories {
			_, err := fmt.Fprintf(w, `<p><a href="/stories/%s">%s</a> <span class="muted small">%s</span></p>`,
				s.path, s.path, templ.EscapeString(s.title))
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// within renders a component with another as its children.
func within(frame, content templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return frame.Render(templ.WithChildren(ctx, content), w)
	})
}
