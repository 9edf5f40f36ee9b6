package form

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// An upload has deadlines of its own in place of the server's: a slow but
// honest phone is not cut off, and a byte a second holds no connection for
// hours.
const (
	startTime = 20 * time.Second // before any rate is asked for
	leastRate = 4 << 10          // bytes a second, on average, from then on
	fullTime  = 5 * time.Minute  // for all of it
	// answerTime is for judging what came and for the answer's way back.
	answerTime = time.Minute
)

type pace struct {
	body    io.Reader
	control *http.ResponseController
	begun   time.Time
	start   time.Duration
	got     int64
	tail    []byte // what came last
	err     error  // why no more comes, if not by the end
}

// tailBytes is enough for the last boundary, which has at most 70 characters,
// and a little of what may follow it.
const tailBytes = 512

func paced(w http.ResponseWriter, body io.Reader, start time.Duration) *pace {
	control := http.NewResponseController(w)
	// The server counts its time to answer from the beginning of the request.
	_ = control.SetWriteDeadline(time.Now().Add(fullTime + answerTime))
	return &pace{body: body, control: control, begun: time.Now(), start: start}
}

// Read waits for the next piece until what has come so far would be too
// little. A recorder in a test has no connection and no deadlines, which is
// fine.
func (p *pace) Read(b []byte) (int, error) {
	allowed := p.start + time.Duration(p.got)*time.Second/leastRate
	_ = p.control.SetReadDeadline(p.begun.Add(min(allowed, fullTime)))
	n, err := p.body.Read(b)
	p.got += int64(n)
	p.tail = append(p.tail, b[:n]...)
	if more := len(p.tail) - tailBytes; more > 0 {
		p.tail = append(p.tail[:0], p.tail[more:]...)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		p.err = err
	}
	return n, err
}

// Many clients send all of a body before they listen, and see a broken
// connection instead of the answer when we do not take it. So a body that is
// refused is swallowed, for a moment.
const (
	drainTime  = 1500 * time.Millisecond
	drainBytes = 128 << 20
)

func drain(w http.ResponseWriter, r *http.Request, body io.Reader) {
	w.Header().Set("Connection", "close")
	if r.Header.Get("Expect") != "" {
		return // it asks first, and the answer is no
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainTime))
	_, _ = io.CopyN(io.Discard, body, drainBytes)
}
