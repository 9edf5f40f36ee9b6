package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"tuval/static"
)

// tab is a page in a browser, on an invented canvas.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string

	opened *atomic.Int64 // pages so far
}

type point struct{ X, Y float64 }

// Where the browsers of the systems we know have their program.
var programs = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"}

func newTab(t *testing.T) *tab {
	t.Helper()
	path := ""
	for _, name := range programs {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("no Chromium is installed")
	}
	assets, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(policy(routes(assets)))
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true))
	alloc, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(alloc)
	t.Cleanup(end)
	b := &tab{t: t, ctx: ctx, base: server.URL, opened: new(atomic.Int64)}
	b.listen()
	return b
}

// listen fails the test for anything that the page says on the console.
func (b *tab) listen() {
	said := chromedp.Events(b.ctx, runtime.ConsoleAPICalled)
	thrown := chromedp.Events(b.ctx, runtime.ExceptionThrown)
	logged := chromedp.Events(b.ctx, log.EntryAdded)
	go func() {
		for e, err := range said {
			if err == nil {
				b.t.Errorf("console: %s %s", e.Type, e.Args[0].Value)
			}
		}
	}()
	go func() {
		for e, err := range thrown {
			if err == nil {
				b.t.Errorf("error: %s", e.ExceptionDetails.Text)
			}
		}
	}()
	go func() {
		for e, err := range logged {
			if err == nil {
				b.t.Errorf("log: %s", e.Entry.Text)
			}
		}
	}()
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

func get[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func (b *tab) wait(expression string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression)); err != nil {
		b.t.Fatalf("waiting for %s: %v", expression, err)
	}
}

func call[P, R any](b *tab, c cdp.Command[P, R], params P) {
	b.t.Helper()
	_, err := chromedp.Run(b.ctx, func(ctx context.Context, t *chromedp.Target) (R, error) {
		return cdp.Call(ctx, t, c, params)
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// open shows a story on a screen and waits until the canvas answers.
func (b *tab) open(path string, width, height int64, ratio float64, touch bool) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: ratio, Mobile: touch,
	})
	call(b, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: touch})
	// An address of its own each time: one that differs from the present one in
	// what follows # alone would not be fetched.
	page, place, _ := strings.Cut(path, "#")
	b.do(chromedp.Navigate(fmt.Sprintf("%s/stories/canvas/%s?%d#%s", b.base, page, b.opened.Add(1), place)))
	b.wait(`document.querySelector("#stage[data-ready]") && document.querySelector("[data-free]").textContent !== "7,412"`)
}

// at is the middle of a block on the screen.
func (b *tab) at(x, y int) point {
	b.t.Helper()
	return get[point](b, fmt.Sprintf(`(() => {
		const r = document.querySelector("#stage canvas").getBoundingClientRect();
		return {X: r.x + (%d + .5) * r.width / 100, Y: r.y + (%d + .5) * r.height / 100};
	})()`, x, y))
}

func (b *tab) mouse(kind input.DispatchMouseEventType, p point) {
	b.t.Helper()
	params := input.DispatchMouseEventParams{Type: kind, X: p.X, Y: p.Y, Button: "left", ClickCount: 1}
	if kind != "mouseReleased" {
		params.Buttons = 1
	}
	if kind == "hover" {
		params.Type, params.Button, params.Buttons, params.ClickCount = "mouseMoved", "none", 0, 0
	}
	call(b, input.DispatchMouseEvent, params)
}

// drag presses at the first point, passes the others and lets go at the last.
func (b *tab) drag(points ...point) {
	b.t.Helper()
	b.press(points...)
	b.mouse("mouseReleased", points[len(points)-1])
}

func (b *tab) press(points ...point) {
	b.t.Helper()
	b.mouse("hover", points[0])
	b.mouse("mousePressed", points[0])
	for _, p := range points[1:] {
		b.mouse("mouseMoved", p)
	}
}

func (b *tab) touch(kind input.DispatchTouchEventType, points ...point) {
	b.t.Helper()
	touched := []*input.TouchPoint{}
	for i, p := range points {
		id := float64(i)
		touched = append(touched, &input.TouchPoint{X: p.X, Y: p.Y, ID: &id})
	}
	call(b, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: touched})
}

func (b *tab) tap(p point) {
	b.t.Helper()
	b.touch("touchStart", p)
	b.touch("touchEnd")
}

// form is what the four fields say: that is what would be held.
func (b *tab) form() string {
	b.t.Helper()
	return get[string](b, `["col", "row", "w", "h"].map((n) => document.getElementById("hold-form").elements[n].value).join(",")`)
}

func (b *tab) wants(want, what string) {
	b.t.Helper()
	if got := b.form(); got != want {
		b.t.Errorf("%s: the form says %q, want %q", what, got, want)
	}
}
