package app

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"

	"tuval/internal/creative"
	"tuval/internal/fault"
	"tuval/internal/gateway"
	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/picture"
	"tuval/internal/stripesim"
	"tuval/migrations"
)

// demoPlaces are what the demo rents: a quiet composition with room left.
func demoPlaces() []grid.Rect {
	return []grid.Rect{
		{X: 4, Y: 4, W: 20, H: 12},
		{X: 28, Y: 6, W: 8, H: 8},
		{X: 40, Y: 3, W: 14, H: 6},
		{X: 60, Y: 5, W: 24, H: 16},
		{X: 88, Y: 4, W: 8, H: 20},
		{X: 6, Y: 20, W: 10, H: 10},
		{X: 20, Y: 24, W: 16, H: 8},
		{X: 42, Y: 14, W: 12, H: 18},
		{X: 64, Y: 26, W: 10, H: 10},
		{X: 80, Y: 28, W: 14, H: 6},
		{X: 5, Y: 38, W: 24, H: 10},
		{X: 34, Y: 38, W: 6, H: 6},
		{X: 44, Y: 40, W: 8, H: 4},
		{X: 58, Y: 42, W: 18, H: 12},
		{X: 82, Y: 40, W: 12, H: 12},
		{X: 8, Y: 54, W: 8, H: 14},
		{X: 22, Y: 52, W: 14, H: 14},
		{X: 42, Y: 50, W: 10, H: 10},
		{X: 56, Y: 60, W: 6, H: 6},
		{X: 68, Y: 60, W: 20, H: 8},
		{X: 4, Y: 74, W: 30, H: 8},
		{X: 40, Y: 68, W: 12, H: 12},
		{X: 60, Y: 74, W: 14, H: 10},
		{X: 80, Y: 74, W: 12, H: 18},
		{X: 8, Y: 88, W: 16, H: 6},
		{X: 30, Y: 86, W: 20, H: 10},
		{X: 56, Y: 88, W: 16, H: 6},
	}
}

func demoTitles() []string {
	return []string{
		"Slow coffee", "Harbour", "Tile works", "North light", "Poplar", "Bakery at six", "Low tide", "Kiln", "Orange grove",
		"The long room", "Salt road", "Loom", "Paper boats", "Quarry", "Evening bus", "Stairwell", "Kite season", "Copper",
		"Market day", "Far hills", "Night ferry", "Glass house", "Field notes", "Old cinema", "Window seat", "Rain school", "Atelier",
	}
}

// Demo fills the canvas with example rentals through the real verbs: each is
// held, paid at the simulator, given a picture and approved. In a market where
// nothing was ever rented one is lived through to its end first, which moves
// all data into the past.
func Demo(ctx context.Context, b *Base, out io.Writer) error {
	if b.Config.Production() || !b.Config.Stripe.Simulated() {
		return fmt.Errorf("the demo pays at the payment simulator; it runs in development without a Stripe key only")
	}
	if err := migrations.Apply(ctx, b.Pool); err != nil {
		return err
	}
	pay, err := b.simulator(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = pay.server.Close() }()
	sim, err := stripesim.New(stripesim.Options{Pool: b.Pool, SecretKey: pay.settings.SecretKey, Logger: b.Log})
	if err != nil {
		return err
	}
	d := demo{Base: b, sim: sim, market: b.demoMarket(pay.settings), studio: picture.NewStudio(picture.DefaultLimits())}
	if fresh, err := b.untouched(ctx); err != nil {
		return err
	} else if fresh {
		if err := (&life{demo: d, out: out}).live(ctx); err != nil {
			return err
		}
	}
	rented := 0
	for i, rect := range demoPlaces() {
		title := demoTitles()[i%len(demoTitles())]
		err := d.rent(ctx, i, rect, title)
		switch {
		case fault.Is(err, "taken"):
			fmt.Fprintf(out, "%-18s %-14s is taken already\n", title, rect)
		case err != nil:
			return fmt.Errorf("demo: %s: %w", title, err)
		default:
			rented++
			fmt.Fprintf(out, "%-18s %-14s live\n", title, rect)
		}
	}
	fmt.Fprintf(out, "%d example rentals are on the canvas\n", rented)
	return nil
}

// untouched reports whether nothing was ever held here, so that time can be
// moved without harm to anybody.
func (b *Base) untouched(ctx context.Context) (bool, error) {
	var any bool
	if err := b.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM rentals)`).Scan(&any); err != nil {
		return false, fmt.Errorf("demo: look for rentals: %w", err)
	}
	return !any, nil
}

// demoMarket lets one person hold as much as the demo needs.
func (b *Base) demoMarket(stripe gateway.Settings) *market.Market {
	r := rules(b.Config, b.Secret)
	none := market.Limits{Holds: math.MaxInt32, Blocks: math.MaxInt32, BlockMinutes: math.MaxInt32, HoldMinutes: math.MaxInt32}
	r.Person, r.Address, r.MaxHeldShare, r.MaxBlocks = none, none, 1, grid.Blocks
	return market.New(b.Pool, b.Queue, gateway.New(stripe, false), r, b.Log)
}

type demo struct {
	*Base
	sim    *stripesim.Sim
	market *market.Market
	studio *picture.Studio
}

func (d demo) rent(ctx context.Context, i int, rect grid.Rect, title string) error {
	who := market.Who{Address: []byte("demo")}
	held, err := d.market.Hold(ctx, who, rect, market.Request{})
	if err != nil {
		return err
	}
	who.Persons = []int64{held.Person}
	want := market.Purchase{Weeks: 2 + i%6, Email: "buyer@example.com"}
	offer, err := d.market.Checkout(ctx, who, held.Key, want)
	if err != nil {
		return err
	}
	p, err := payment.ByKey(ctx, d.Pool, offer.PaymentKey)
	if err != nil {
		return err
	}
	if _, err := d.sim.Pay(ctx, *p.SessionID, stripesim.Payment{}); err != nil {
		return err
	}
	if err := d.market.Return(ctx, who, held.Key); err != nil {
		return err
	}
	return d.decide(ctx, who, held, i, title, true, "")
}

// decide submits a drawn picture, and approves or rejects it.
func (d demo) decide(ctx context.Context, who market.Who, held market.Held, i int, title string, approve bool, reason string) error {
	var file bytes.Buffer
	if err := png.Encode(&file, drawing(held.Rect, uint64(i))); err != nil {
		return err
	}
	size := held.Rect.Px().Size()
	made, err := d.studio.Render(ctx, file.Bytes(), picture.Box{W: size.X, H: size.Y}, picture.Cover)
	if err != nil {
		return err
	}
	c, err := d.market.Submit(ctx, who, held.Key, market.Submission{
		Link: "https://example.com/", LinkHost: "example.com", Title: title, Alt: "An example picture: " + title, Fit: "cover",
		Picture: kept(made.One), Picture2x: kept(made.Two),
	}, market.Request{})
	if err != nil {
		return err
	}
	_, err = d.market.Decide(ctx, market.Decision{Creative: c.Key, Revision: c.Revision, By: "demo", Approve: approve, Reason: reason})
	return err
}

func kept(r picture.Rendition) creative.Picture {
	return creative.Picture{Hash: r.Hash, MIME: r.MIME, Width: r.W, Height: r.H, Bytes: r.Bytes}
}

// drawing is a picture of soft hills under a sky, in colours of its own.
func drawing(rect grid.Rect, seed uint64) image.Image {
	rnd := rand.New(rand.NewPCG(seed, 7))
	w, h := rect.W*grid.BlockPx*2, rect.H*grid.BlockPx*2
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	hue, layers := rnd.Float64(), 3+rnd.IntN(3)
	sunX, sunY, sunR := (0.2+0.6*rnd.Float64())*float64(w), (0.15+0.3*rnd.Float64())*float64(h), 0.08*float64(min(w, h))+6
	phase := make([]float64, layers)
	for l := range phase {
		phase[l] = rnd.Float64() * 7
	}
	for x := range w {
		for y := range h {
			fx, fy := float64(x), float64(y)
			c := hsl(hue, 0.55, 0.9-0.25*fy/float64(h))
			if math.Hypot(fx-sunX, fy-sunY) < sunR {
				c = hsl(hue+0.45, 0.85, 0.72)
			}
			for l := range layers {
				top := float64(h) * (0.42 + 0.5*float64(l)/float64(layers) + 0.07*math.Sin(fx/float64(h)*(1.2+0.7*float64(l))*2+phase[l]))
				if fy > top {
					c = hsl(hue+0.06*float64(l), 0.5, 0.62-0.42*float64(l+1)/float64(layers))
				}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

// hsl converts a colour; hue wraps at 1.
func hsl(h, s, l float64) color.NRGBA {
	h -= math.Floor(h)
	q := l + s - l*s
	if l < 0.5 {
		q = l * (1 + s)
	}
	p := 2*l - q
	part := func(t float64) uint8 {
		t -= math.Floor(t)
		v := p
		switch {
		case t < 1.0/6:
			v = p + (q-p)*6*t
		case t < 0.5:
			v = q
		case t < 2.0/3:
			v = p + (q-p)*(2.0/3-t)*6
		}
		return uint8(math.Round(v * 255))
	}
	return color.NRGBA{part(h + 1.0/3), part(h), part(h - 1.0/3), 255}
}
