package static

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
	"golang.org/x/sync/errgroup"
)

// file is one asset in the encodings in which it can be sent. An encoding that
// saves nothing is left out.
type file struct {
	hashed      string // name with the hash in it
	hash        string
	contentType string
	plain       []byte
	brotli      []byte
	gzip        []byte
}

// compressAll compresses every file once, at start, as small as it gets.
func compressAll(files map[string]*file) error {
	var group errgroup.Group
	for _, f := range files {
		group.Go(f.compress)
	}
	return group.Wait()
}

func (f *file) compress() error {
	var err error
	f.brotli, err = squeeze(f.plain, func(w io.Writer) (io.WriteCloser, error) {
		return brotli.NewWriterLevel(w, brotli.BestCompression), nil
	})
	if err != nil {
		return err
	}
	f.gzip, err = squeeze(f.plain, func(w io.Writer) (io.WriteCloser, error) {
		return gzip.NewWriterLevel(w, gzip.BestCompression)
	})
	return err
}

func squeeze(text []byte, open func(io.Writer) (io.WriteCloser, error)) ([]byte, error) {
	var out bytes.Buffer
	w, err := open(&out)
	if err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if _, err := w.Write(text); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if out.Len() >= len(text) {
		return nil, nil
	}
	return out.Bytes(), nil
}

// choose returns the smallest form that the client accepts and its name in
// Content-Encoding, which is empty for the plain one.
func (f *file) choose(accept string) (body []byte, coding string) {
	switch {
	case f.brotli != nil && accepts(accept, "br"):
		return f.brotli, "br"
	case f.gzip != nil && accepts(accept, "gzip"):
		return f.gzip, "gzip"
	}
	return f.plain, ""
}

// accepts reads an Accept-Encoding header. A coding must be named: "*" is
// taken as "plain will do".
func accepts(header, coding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		weight, found := strings.CutPrefix(strings.TrimSpace(params), "q=")
		if !found {
			return true
		}
		q, err := strconv.ParseFloat(weight, 64)
		return err == nil && q > 0
	}
	return false
}
