package form_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"tuval/web/form"
)

// answer sends what begins a request and reads the status that comes back.
func answer(t *testing.T, s string, addr string) (*http.Response, string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, s); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	return resp, string(body)
}

func TestAnUploadThatStopsComingEnds(t *testing.T) {
	s := serve(t, form.Limits{File: "image", Bytes: 1000, Start: 50 * time.Millisecond})
	head := "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: " + multi + "\r\nContent-Length: 500\r\n\r\n"
	resp, body := answer(t, head+"--x\r\nContent-Disp", s.Listener.Addr().String())
	if resp.StatusCode != 422 || !strings.Contains(body, "too slowly") {
		t.Errorf("answered %d %s", resp.StatusCode, body)
	}
}

func TestAnUploadThatBreaksOffIsRefused(t *testing.T) {
	s := serve(t, form.Limits{File: "image", Bytes: 1000})
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: "+multi+"\r\nContent-Length: 500\r\n\r\n--x\r\n")
	_ = conn.(*net.TCPConn).CloseWrite()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 422 {
		t.Errorf("answered %d", resp.StatusCode)
	}
}

// A client that sends everything before it listens still hears that it was
// too much.
func TestAHugeUploadHearsTheAnswer(t *testing.T) {
	s := serve(t, form.Limits{File: "image", Bytes: 1000})
	const size = 20_000_000
	for _, known := range []bool{true, false} {
		body := io.LimitReader(zeros{}, size)
		r, _ := http.NewRequest("POST", s.URL, io.MultiReader(strings.NewReader(part(`name="image"; filename="a"`, "")), body))
		r.Header.Set("Content-Type", multi)
		if known {
			r.ContentLength = size + int64(len(part(`name="image"; filename="a"`, "")))
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != 413 {
			t.Errorf("length known %v: answered %d", known, resp.StatusCode)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
