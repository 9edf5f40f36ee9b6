// node --test static/js
import assert from "node:assert/strict";
import { test } from "node:test";
import * as g from "./geometry.js";

const sizes = [288, 328, 333.328125, 720, 771.5, 1000];
const corners = [[12, 30], [25, 41]];

// A fixed sequence, so that a failure can be seen again.
function* numbers(seed = 1) {
  for (;;) {
    seed = (seed * 48271) % 2147483647;
    yield seed / 2147483647;
  }
}

function views(size) {
  const random = numbers(7);
  const next = () => random.next().value;
  const list = [g.WHOLE];
  for (let i = 0; i < 60; i++) {
    list.push(g.limit({ zoom: 1 + next() * 12, cx: next() * 100, cy: next() * 100 }, size));
  }
  return list;
}

test("a drag gives the same rect in all four directions", () => {
  const [[x1, y1], [x2, y2]] = corners;
  const want = { x: 12, y: 30, w: 14, h: 12 };
  for (const size of sizes) {
    const at = (x, y) => g.cellAt(g.WHOLE, size, ((x + 0.5) * size) / 100, ((y + 0.5) * size) / 100);
    for (const [a, b] of [
      [at(x1, y1), at(x2, y2)],
      [at(x2, y2), at(x1, y1)],
      [at(x1, y2), at(x2, y1)],
      [at(x2, y1), at(x1, y2)],
    ]) assert.deepEqual(g.span(a, b), want);
  }
});

test("press and release on one block is 1 by 1", () => {
  for (const c of [{ x: 0, y: 0 }, { x: 99, y: 99 }, { x: 50, y: 3 }]) {
    assert.deepEqual(g.span(c, c), { ...c, w: 1, h: 1 });
  }
});

test("every block is found at its middle and just inside its edges, in every view", () => {
  for (const size of sizes) for (const view of views(size)) {
    const half = 50 / view.zoom;
    for (const share of [0, 0.25, 0.5, 0.75, 0.999]) {
      const x = Math.floor(view.cx - half + share * 2 * half);
      const y = Math.floor(view.cy - half + share * 2 * half);
      for (const inside of [0.001, 0.5, 0.999]) {
        const p = g.toPixels(view, size, x + inside, y + inside);
        assert.deepEqual(g.cellAt(view, size, p.x, p.y), { x, y });
      }
    }
  }
});

test("the left and upper edge belongs to the block, the right and lower to the next", () => {
  for (const size of sizes) for (const view of views(size)) for (const x of [0, 1, 37, 98, 99]) {
    const p = g.toPixels(view, size, x, x);
    assert.deepEqual(g.cellAt(view, size, p.x, p.y), { x, y: x });
  }
});

test("points beside the canvas mean the nearest block", () => {
  for (const size of sizes) {
    assert.deepEqual(g.cellAt(g.WHOLE, size, -500, -1), { x: 0, y: 0 });
    assert.deepEqual(g.cellAt(g.WHOLE, size, size, size), { x: 99, y: 99 });
    assert.deepEqual(g.cellAt(g.WHOLE, size, size + 9999, size / 2), { x: 99, y: 50 });
    assert.deepEqual(g.cellAt(g.WHOLE, size, size - 0.01, 0), { x: 99, y: 0 });
  }
  const all = g.span(g.cellAt(g.WHOLE, 720, -50, -50), g.cellAt(g.WHOLE, 720, 5000, 5000));
  assert.deepEqual(all, { x: 0, y: 0, w: 100, h: 100 });
});

test("zooming keeps the point under the cursor", () => {
  for (const size of sizes) for (const view of views(size)) {
    const [px, py] = [size * 0.3, size * 0.6];
    const before = g.toBlocks(view, size, px, py);
    const next = g.zoomAt(view, size, 1.5, px, py);
    const after = g.toBlocks(next, size, px, py);
    if (next.zoom === view.zoom) continue;
    assert.ok(Math.abs(before.x - after.x) < 1e-6 && Math.abs(before.y - after.y) < 1e-6);
  }
});

test("zoom stays between everything and fingertips, and out again shows everything", () => {
  let view = g.WHOLE;
  for (let i = 0; i < 50; i++) view = g.zoomAt(view, 720, 1.4, 100, 700);
  assert.equal(view.zoom, g.maxZoom(720));
  assert.ok(Math.abs(g.scale(view, 720) - 44) < 1e-9);
  for (let i = 0; i < 50; i++) view = g.zoomAt(view, 720, 0.7, 400, 3);
  assert.deepEqual(view, g.WHOLE);
  assert.equal(g.maxZoom(5000), 1);
});

test("the canvas always fills the stage", () => {
  for (const size of sizes) for (const view of views(size)) {
    for (const [dx, dy] of [[1e6, 1e6], [-1e6, 3], [5, -1e6]]) {
      const moved = g.pan(view, size, dx, dy).view;
      const a = g.toPixels(moved, size, 0, 0);
      const b = g.toPixels(moved, size, 100, 100);
      assert.ok(a.x <= 1e-6 && a.y <= 1e-6 && b.x >= size - 1e-6 && b.y >= size - 1e-6);
    }
  }
});

test("what a pan cannot do is given back", () => {
  const { view, rest } = g.pan(g.WHOLE, 720, 10, -25);
  assert.deepEqual(view, g.WHOLE);
  assert.ok(Math.abs(rest.x - 10) < 1e-9 && Math.abs(rest.y + 25) < 1e-9);
  const near = g.pan({ zoom: 2, cx: 50, cy: 50 }, 1000, 30, 0);
  assert.equal(near.rest.x, 0);
  assert.ok(Math.abs(near.view.cx - 48.5) < 1e-9);
});

test("reveal brings a rect on screen and moves no more than needed", () => {
  const view = { zoom: 4, cx: 20, cy: 20 };
  assert.deepEqual(g.reveal(view, 720, { x: 10, y: 10, w: 5, h: 5 }), view);
  const moved = g.reveal(view, 720, { x: 90, y: 20, w: 10, h: 1 });
  assert.deepEqual(moved, { zoom: 4, cx: 87.5, cy: 20 });
  assert.deepEqual(g.reveal(g.WHOLE, 720, { x: 99, y: 99, w: 1, h: 1 }), g.WHOLE);
});

test("moving and stepping stop at the edges", () => {
  assert.deepEqual(g.shift({ x: 90, y: 0, w: 6, h: 4 }, 10, -10), { x: 94, y: 0, w: 6, h: 4 });
  assert.deepEqual(g.shift({ x: 0, y: 0, w: 100, h: 100 }, 1, 1), { x: 0, y: 0, w: 100, h: 100 });
  assert.deepEqual(g.step({ x: 99, y: 0 }, 10, -1), { x: 99, y: 0 });
});

test("validity", () => {
  for (const [x, y, w, h] of [[0, 0, 1, 1], [99, 99, 1, 1], [0, 0, 100, 100], [99, 0, 1, 100]]) {
    assert.ok(g.valid({ x, y, w, h }));
  }
  for (const [x, y, w, h] of [[100, 0, 1, 1], [99, 99, 2, 1], [-1, 0, 2, 1], [0, 0, 0, 5], [0, 0, 101, 1], [1.5, 0, 1, 1], [NaN, 0, 1, 1]]) {
    assert.ok(!g.valid({ x, y, w, h }));
  }
});

test("intersections: touching is not overlapping", () => {
  assert.equal(g.intersection({ x: 0, y: 0, w: 10, h: 10 }, { x: 10, y: 0, w: 10, h: 10 }), null);
  assert.equal(g.intersection({ x: 40, y: 40, w: 10, h: 10 }, { x: 50, y: 50, w: 10, h: 10 }), null);
  assert.deepEqual(g.intersection({ x: 60, y: 60, w: 10, h: 10 }, { x: 69, y: 69, w: 10, h: 10 }), { x: 69, y: 69, w: 1, h: 1 });
});

test("handles stand outside, so the rect's own blocks start a new drag", () => {
  const rect = { x: 10, y: 10, w: 11, h: 11 };
  for (const size of sizes) for (const view of views(size)) {
    for (const [x, y] of [[10.5, 10.5], [20.5, 20.5], [10.5, 20.5], [15, 15]]) {
      const p = g.toPixels(view, size, x, y);
      assert.equal(g.handleAt(view, size, rect, p.x, p.y, 24), "");
    }
  }
  const names = g.handles(g.WHOLE, 720, rect).map((h) => h.name);
  assert.deepEqual(names, ["nw", "n", "ne", "w", "e", "sw", "s", "se"]);
  for (const h of g.handles(g.WHOLE, 720, rect)) {
    assert.equal(g.handleAt(g.WHOLE, 720, rect, h.x, h.y, 8), h.name);
  }
});

test("pulling handles", () => {
  const rect = { x: 10, y: 20, w: 5, h: 4 };
  assert.deepEqual(g.resize(rect, "se", { x: 19, y: 29 }), { x: 10, y: 20, w: 10, h: 10 });
  assert.deepEqual(g.resize(rect, "nw", { x: 0, y: 0 }), { x: 0, y: 0, w: 15, h: 24 });
  assert.deepEqual(g.resize(rect, "e", { x: 12, y: 99 }), { x: 10, y: 20, w: 3, h: 4 });
  assert.deepEqual(g.resize(rect, "n", { x: 99, y: 22 }), { x: 10, y: 22, w: 5, h: 2 });
  assert.deepEqual(g.resize(rect, "w", { x: 99, y: 0 }), { x: 14, y: 20, w: 86, h: 4 });
});

test("signs of neighbours do not cover each other", () => {
  const apart = (points) => points.every((a, i) => points.every((b, j) => i === j || Math.hypot(a.x - b.x, a.y - b.y) >= 19));
  const inside = (points) => points.every((p) => p.x >= 10 && p.y >= 10 && p.x <= 318 && p.y <= 318);
  // Five single blocks beside one another on a phone, in the middle, in a corner and on one spot.
  for (const at of [(i) => ({ x: 150 + 3.3 * i, y: 160 }), (i) => ({ x: 3.3 * i, y: 3.3 * (i % 2) }), () => ({ x: 100, y: 100 })]) {
    const points = g.spread([0, 1, 2, 3, 4].map(at), 20, 328);
    assert.ok(apart(points) && inside(points), JSON.stringify(points));
  }
  const far = [{ x: 20, y: 20 }, { x: 60, y: 20 }, { x: 300, y: 300 }];
  assert.deepEqual(g.spread(far, 20, 328), far);
});

test("links", () => {
  assert.deepEqual(g.parseLink("#0,99,100,1"), { x: 0, y: 99, w: 100, h: 1 });
  for (const bad of ["", "#", "#1,2,3", "#1,2,3,4,5", "#-1,0,1,1", "#99,0,2,1", "#1.5,0,1,1", "#1e1,0,1,1", "#a,b,c,d", "#000001,0,1,1"]) {
    assert.equal(g.parseLink(bad), null);
  }
  assert.equal(g.link({ x: 1, y: 2, w: 3, h: 4 }), "#1,2,3,4");
});

test("places are spoken counted from 1", () => {
  assert.equal(g.place({ x: 11, y: 7, w: 6, h: 1 }), "columns 12 to 17, row 8");
  assert.equal(g.place({ x: 0, y: 99, w: 1, h: 1 }), "column 1, row 100");
});
