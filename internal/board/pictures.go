package board

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/compose"
	"tuval/internal/creative"
	"tuval/internal/fault"
	"tuval/internal/grid"
)

// remembered is how many revisions a process can still draw. An older one is
// not found, and the visitor is sent to the current one.
const remembered = 64

// pictures composes the canvas, once for each content of the live areas.
type pictures struct {
	pool      *pgxpool.Pool
	composing sync.Mutex // one composition at a time: it is all processor
	mu        sync.Mutex // guards the fields below
	order     []string
	known     map[string]*Snapshot // by revision
	encoded   map[string][]byte    // by content and kind
	decoded   map[string]image.Image
}

func newPictures(pool *pgxpool.Pool) *pictures {
	return &pictures{pool: pool, known: map[string]*Snapshot{}, encoded: map[string][]byte{}, decoded: map[string]image.Image{}}
}

// know makes a revision drawable, and forgets the one that was current the
// longest time ago.
func (p *pictures) know(s *Snapshot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.order, s.Revision); i >= 0 {
		p.order = slices.Delete(p.order, i, i+1)
	}
	p.order = append(p.order, s.Revision)
	p.known[s.Revision] = s
	if len(p.order) <= remembered {
		return
	}
	delete(p.known, p.order[0])
	p.order = p.order[1:]
	used, shown := map[string]bool{}, map[string]bool{}
	for _, k := range p.known {
		used[k.live] = true
		for _, a := range k.Areas {
			shown[a.Picture] = true
		}
	}
	for key := range p.encoded {
		if live, _, _ := bytes.Cut([]byte(key), []byte(".")); !used[string(live)] {
			delete(p.encoded, key)
		}
	}
	for hash := range p.decoded {
		if !shown[hash] {
			delete(p.decoded, hash)
		}
	}
}

// Kinds of the canvas picture.
const (
	PNG  = "png"
	WebP = "webp"
)

// Picture is the composed canvas of a revision in one of the kinds. A
// revision this process does not remember is a fault of kind NotFound.
func (b *Board) Picture(ctx context.Context, revision, kind string) ([]byte, error) {
	p := b.pictures
	s, got := p.find(revision, kind)
	if got != nil {
		return got, nil
	}
	if s == nil || kind != PNG && kind != WebP {
		return nil, fault.New(fault.NotFound, "There is no such picture of the canvas.")
	}
	p.composing.Lock()
	defer p.composing.Unlock()
	if _, got := p.find(revision, kind); got != nil {
		return got, nil
	}
	made, err := p.draw(ctx, s, kind)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.encoded[s.live+"."+kind] = made
	return made, nil
}

func (p *pictures) find(revision, kind string) (*Snapshot, []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.known[revision]
	if s == nil {
		return nil, nil
	}
	return s, p.encoded[s.live+"."+kind]
}

// draw composes the canvas of a snapshot and encodes it.
func (p *pictures) draw(ctx context.Context, s *Snapshot, kind string) ([]byte, error) {
	var placed []compose.Placed
	for _, a := range s.Areas {
		if a.State != Live || a.Picture == "" {
			continue
		}
		img, err := p.decode(ctx, a.Picture)
		if err != nil {
			return nil, err
		}
		placed = append(placed, compose.Placed{Rect: a.Px(), Img: img})
	}
	canvas := compose.New(grid.Whole().Px().Size())
	compose.Compose(canvas, placed)
	encode := compose.EncodePNG
	if kind == WebP {
		encode = compose.EncodeWebP
	}
	made, err := encode(canvas)
	if err != nil {
		return nil, fmt.Errorf("board: encode the canvas: %w", err)
	}
	return slices.Clip(made), nil
}

func (p *pictures) decode(ctx context.Context, hash string) (image.Image, error) {
	p.mu.Lock()
	img := p.decoded[hash]
	p.mu.Unlock()
	if img != nil {
		return img, nil
	}
	stored, err := creative.PictureByHash(ctx, p.pool, hash)
	if err != nil {
		return nil, err
	}
	if img, err = png.Decode(bytes.NewReader(stored.Bytes)); err != nil {
		return nil, fmt.Errorf("board: open picture %s: %w", hash, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.decoded[hash] = img
	return img, nil
}
