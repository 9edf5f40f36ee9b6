package form

import "io"

// withoutNUL takes NUL characters out of the headers of parts, where they can
// only stand in a file's name, which decides nothing: the reader of parts
// would refuse the whole upload for one. The contents of parts pass as they
// are.
type withoutNUL struct {
	body      io.Reader
	delimiter string // before each part but the first
	content   bool   // inside a part's content
	seen      int    // how much of the mark that is waited for has passed
}

const endOfHeader = "\r\n\r\n"

func (r *withoutNUL) Read(b []byte) (int, error) {
	n, err := r.body.Read(b)
	for i, c := range b[:n] {
		if c == 0 && !r.content {
			b[i] = '_'
		}
		r.pass(c)
	}
	return n, err
}

// pass follows the stream. Neither mark holds its own beginning a second time
// but at its start, so a failed match starts over there.
func (r *withoutNUL) pass(c byte) {
	mark := endOfHeader
	if r.content {
		mark = r.delimiter
	}
	switch {
	case c == mark[r.seen]:
		r.seen++
	case c == mark[0]:
		r.seen = 1
	default:
		r.seen = 0
	}
	if r.seen == len(mark) {
		r.content, r.seen = !r.content, 0
	}
}
