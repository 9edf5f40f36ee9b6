package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// chrome is the browser of all tests of this process; each of them gets profiles
// of its own in it. It is started by the first that asks.
var chrome struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if chrome.stop != nil {
		chrome.stop()
	}
	os.Exit(code)
}

var errNoChromium = errors.New("no Chromium is installed")

// browser returns the context to open tabs in.
func browser(t *testing.T) context.Context {
	t.Helper()
	chrome.once.Do(func() { chrome.ctx, chrome.stop, chrome.err = startChrome() })
	if errors.Is(chrome.err, errNoChromium) && os.Getenv("CI") == "" {
		t.Skip(chrome.err)
	}
	if chrome.err != nil {
		t.Fatal(chrome.err)
	}
	return chrome.ctx
}

// startChrome starts a browser that knows nobody but this machine: every name
// below .example is this machine, and no other name is known.
func startChrome() (context.Context, func(), error) {
	path, err := program()
	if err != nil {
		return nil, nil, err
	}
	profile, err := os.MkdirTemp("", "tuval-e2e-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a profile: %w", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.UserDataDir(profile), chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("no-pings", true),
		chromedp.Flag("host-resolver-rules", "MAP *.example 127.0.0.1, MAP localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stopFirst := chromedp.NewContext(alloc)
	stop := func() {
		stopFirst()
		stopAlloc()
		_ = os.RemoveAll(profile) // only the system's temporary directory
	}
	if err := chromedp.Do(ctx); err != nil {
		stop()
		return nil, nil, fmt.Errorf("start %s: %w", path, err)
	}
	return ctx, stop, nil
}

// program finds the browser under the names that systems give it.
func program() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoChromium
}
