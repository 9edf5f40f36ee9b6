package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
)

// record is what a tab said and asked for.
type record struct {
	mu       sync.Mutex
	name     string
	origins  []string // where requests may go
	expected []refusal
	cut      bool // failed connections are meant
	troubles []string
	requests []request
}

// refusal is an answer of 400 or above that is meant: the status, and a part of
// the address.
type refusal struct {
	status int64
	part   string
}

// request is one request of a tab and what came of it.
type request struct {
	id     network.RequestID
	method string
	url    string
	kind   network.ResourceType
	status int64
	size   float64 // bytes on the wire
	at     float64 // seconds since some moment
}

// hear is called by the tab's loop: it must be quick and may not ask the browser.
func (r *record) hear(event any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		r.trouble("console.%s: %s", e.Type, values(e.Args))
	case *runtime.EventExceptionThrown:
		r.trouble("exception: %s", thrown(e.ExceptionDetails))
	case *log.EventEntryAdded:
		r.entry(e.Entry)
	case *network.EventRequestWillBeSent:
		r.sent(e)
	case *network.EventResponseReceived:
		r.answered(e)
	case *network.EventLoadingFinished:
		if i := r.find(e.RequestID); i >= 0 {
			r.requests[i].size = e.EncodedDataLength
		}
	case *network.EventLoadingFailed:
		r.failed(e)
	}
}

func (r *record) trouble(format string, args ...any) {
	r.troubles = append(r.troubles, fmt.Sprintf(format, args...))
}

func values(args []*runtime.RemoteObject) string {
	var all []string
	for _, a := range args {
		if len(a.Value) > 0 {
			all = append(all, string(a.Value))
		} else {
			all = append(all, a.Description)
		}
	}
	return strings.Join(all, " ")
}

func thrown(d *runtime.ExceptionDetails) string {
	if d.Exception != nil && d.Exception.Description != "" {
		return d.Exception.Description
	}
	return fmt.Sprintf("%s at %s:%d", d.Text, d.URL, d.LineNumber)
}

// entry is a line that the browser itself wrote to the console. Its own lines
// about answers that are meant are no trouble.
func (r *record) entry(e *log.Entry) {
	if e.Source == log.EntrySourceNetwork {
		if r.cut && strings.Contains(e.Text, "net::ERR_") {
			return
		}
		for _, x := range r.expected {
			if strings.Contains(e.URL, x.part) && strings.Contains(e.Text, fmt.Sprintf("status of %d", x.status)) {
				return
			}
		}
	}
	r.trouble("%s %s: %s (%s)", e.Source, e.Level, e.Text, e.URL)
}

func (r *record) sent(e *network.EventRequestWillBeSent) {
	url := e.Request.URL
	r.requests = append(r.requests, request{id: e.RequestID, method: e.Request.Method, url: url, kind: e.Type, at: float64(e.Timestamp)})
	if strings.HasPrefix(url, "data:") || strings.HasPrefix(url, "blob:") || slices.ContainsFunc(r.origins, func(o string) bool { return strings.HasPrefix(url, o) }) {
		return
	}
	r.trouble("a request to elsewhere: %s %s", e.Request.Method, url)
}

func (r *record) find(id network.RequestID) int {
	for i := len(r.requests) - 1; i >= 0; i-- {
		if r.requests[i].id == id {
			return i
		}
	}
	return -1
}

func (r *record) answered(e *network.EventResponseReceived) {
	if i := r.find(e.RequestID); i >= 0 {
		r.requests[i].status = e.Response.Status
	}
	if e.Response.Status < 400 || slices.ContainsFunc(r.expected, func(x refusal) bool {
		return x.status == e.Response.Status && strings.Contains(e.Response.URL, x.part)
	}) {
		return
	}
	r.trouble("answered %d: %s", e.Response.Status, e.Response.URL)
}

// failed are requests without an answer. Those that a page gives up because it is
// left are none of ours.
func (r *record) failed(e *network.EventLoadingFailed) {
	if e.BlockedReason == "" && (r.cut || e.Canceled) {
		return
	}
	url := string(e.RequestID)
	if i := r.find(e.RequestID); i >= 0 {
		url = r.requests[i].url
	}
	r.trouble("failed (%s %s): %s", e.ErrorText, e.BlockedReason, url)
}

// report fails the test for every trouble.
func (r *record) report(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range r.troubles {
		t.Errorf("%s: %s", r.name, line)
	}
	r.troubles = nil
}
