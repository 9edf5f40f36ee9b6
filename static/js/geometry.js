// The arithmetic of the canvas: no DOM, no state. Blocks are counted from 0;
// a rect is {x, y, w, h} in blocks, half-open. A view is the part of the canvas
// on screen: {zoom, cx, cy}, where zoom 1 shows all and (cx, cy) is the point,
// in blocks, in the middle of the stage. The stage is a square of `size` CSS
// pixels; points on it are CSS pixels from its upper left corner. Device pixels
// play no part here, so no ratio of them can shift a cell.

export const COUNT = 100;
export const WHOLE = { zoom: 1, cx: COUNT / 2, cy: COUNT / 2 };

const within = (low, value, high) => Math.min(Math.max(value, low), high);

/* Views */

// maxZoom lets a block grow to 44 px, the size of a fingertip.
export const maxZoom = (size) => Math.max(1, (44 * COUNT) / size);

export function limit(view, size) {
  const zoom = within(1, view.zoom, maxZoom(size));
  const half = COUNT / 2 / zoom;
  return { zoom, cx: within(half, view.cx, COUNT - half), cy: within(half, view.cy, COUNT - half) };
}

// scale is the width of a block in CSS pixels.
export const scale = (view, size) => (size / COUNT) * view.zoom;

export function toBlocks(view, size, px, py) {
  const s = scale(view, size);
  return { x: view.cx + (px - size / 2) / s, y: view.cy + (py - size / 2) / s };
}

export function toPixels(view, size, x, y) {
  const s = scale(view, size);
  return { x: (x - view.cx) * s + size / 2, y: (y - view.cy) * s + size / 2 };
}

// zoomAt keeps the point under the cursor where it is, as far as the edges let it.
export function zoomAt(view, size, factor, px, py) {
  const fixed = toBlocks(view, size, px, py);
  const zoom = within(1, view.zoom * factor, maxZoom(size));
  const s = scale({ zoom }, size);
  return limit({ zoom, cx: fixed.x - (px - size / 2) / s, cy: fixed.y - (py - size / 2) / s }, size);
}

// pan moves the canvas by that many pixels. What the edges did not allow comes
// back as `rest`, so that the page can scroll on.
export function pan(view, size, dx, dy) {
  const s = scale(view, size);
  const wanted = { zoom: view.zoom, cx: view.cx - dx / s, cy: view.cy - dy / s };
  const next = limit(wanted, size);
  return { view: next, rest: { x: (next.cx - wanted.cx) * s, y: (next.cy - wanted.cy) * s } };
}

// reveal moves the view as little as needed for the rect to be on screen.
export function reveal(view, size, rect) {
  const half = COUNT / 2 / view.zoom;
  const near = (c, from, length) => length > 2 * half ? from + length / 2 : within(from + length - half, c, from + half);
  return limit({ zoom: view.zoom, cx: near(view.cx, rect.x, rect.w), cy: near(view.cy, rect.y, rect.h) }, size);
}

/* Cells and rects */

const cell = (v) => within(0, Math.floor(v + 1e-9), COUNT - 1);

// cellAt is the block at a point; beside the canvas, the nearest one.
export function cellAt(view, size, px, py) {
  const p = toBlocks(view, size, px, py);
  return { x: cell(p.x), y: cell(p.y) };
}

// span is the rect of which a and b are opposite corner blocks, both inside.
export function span(a, b) {
  return {
    x: Math.min(a.x, b.x),
    y: Math.min(a.y, b.y),
    w: Math.abs(a.x - b.x) + 1,
    h: Math.abs(a.y - b.y) + 1,
  };
}

export const last = (r) => ({ x: r.x + r.w - 1, y: r.y + r.h - 1 });

export function step(c, dx, dy) {
  return { x: within(0, c.x + dx, COUNT - 1), y: within(0, c.y + dy, COUNT - 1) };
}

// shift moves a whole rect and keeps its size.
export function shift(r, dx, dy) {
  return { ...r, x: within(0, r.x + dx, COUNT - r.w), y: within(0, r.y + dy, COUNT - r.h) };
}

export function valid(r) {
  return [r.x, r.y, r.w, r.h].every(Number.isInteger)
    && r.x >= 0 && r.y >= 0 && r.w >= 1 && r.h >= 1 && r.x + r.w <= COUNT && r.y + r.h <= COUNT;
}

export const same = (a, b) => a?.x === b?.x && a?.y === b?.y && a?.w === b?.w && a?.h === b?.h;

export function intersection(a, b) {
  const x = Math.max(a.x, b.x);
  const y = Math.max(a.y, b.y);
  const w = Math.min(a.x + a.w, b.x + b.w) - x;
  const h = Math.min(a.y + a.h, b.y + b.h) - y;
  return w > 0 && h > 0 ? { x, y, w, h } : null;
}

export const contains = (r, c) => c.x >= r.x && c.y >= r.y && c.x < r.x + r.w && c.y < r.y + r.h;

/* Handles: small squares around a rect, named by the compass: four corners, and
   the sides if they are long enough. They stand outside of the rect, so that a
   drag that starts on its blocks is a new selection. */

const REACH = 11;
const SIDE = 36;

export function handles(view, size, r) {
  const a = toPixels(view, size, r.x, r.y);
  const b = toPixels(view, size, r.x + r.w, r.y + r.h);
  const stops = (low, from, to, high) => [
    [low, from - REACH],
    ...(to - from < SIDE ? [] : [["", (from + to) / 2]]),
    [high, to + REACH],
  ];
  const columns = stops("w", a.x, b.x, "e");
  return stops("n", a.y, b.y, "s").flatMap(([ns, y]) => columns.map(([we, x]) => ({ name: ns + we, x, y })))
    .filter((h) => h.name);
}

// handleAt names the handle within `reach` pixels of a point. The rect itself is no handle.
export function handleAt(view, size, r, px, py, reach) {
  const p = toBlocks(view, size, px, py);
  if (contains(r, p)) return "";
  let best = "";
  let least = reach;
  for (const h of handles(view, size, r)) {
    const away = Math.hypot(h.x - px, h.y - py);
    if (away < least) [best, least] = [h.name, away];
  }
  return best;
}

// resize pulls one handle to a block; across the opposite side it turns the rect over.
export function resize(r, name, to) {
  const far = last(r);
  const fixed = { x: name.includes("w") ? far.x : r.x, y: name.includes("n") ? far.y : r.y };
  const moving = { x: /[we]/.test(name) ? to.x : far.x, y: /[ns]/.test(name) ? to.y : far.y };
  return span(fixed, moving);
}

/* Signs: round marks of things that may lie closer together than the marks are wide. */

// spread moves points apart until no two are nearer than `gap`, each as little as
// needed, inside of the stage by half a gap. What stands well stays where it is.
export function spread(points, gap, size) {
  const moved = points.map((p) => ({ ...p }));
  for (let turn = 0; turn < 60; turn++) {
    let still = true;
    for (let i = 0; i < moved.length; i++) for (let j = 0; j < i; j++) {
      const [a, b] = [moved[i], moved[j]];
      const away = Math.hypot(a.x - b.x, a.y - b.y);
      if (away >= gap - 0.5) continue;
      // Two in the same spot part by their numbers, each pair in its own direction.
      const [dx, dy] = away > 0.01 ? [(a.x - b.x) / away, (a.y - b.y) / away] : [Math.cos(i + j), Math.sin(i + j)];
      const push = (gap - away) / 2 + 0.25;
      [a.x, a.y, b.x, b.y] = [a.x + dx * push, a.y + dy * push, b.x - dx * push, b.y - dy * push];
      still = false;
    }
    for (const p of moved) [p.x, p.y] = [within(gap / 2, p.x, size - gap / 2), within(gap / 2, p.y, size - gap / 2)];
    if (still) break;
  }
  return moved;
}

/* Words */

// parseLink reads the part of an address behind #: "x,y,w,h", counted from 0.
export function parseLink(hash) {
  const found = /^#(\d{1,3}),(\d{1,3}),(\d{1,3}),(\d{1,3})$/.exec(hash);
  if (!found) return null;
  const [x, y, w, h] = found.slice(1).map(Number);
  return valid({ x, y, w, h }) ? { x, y, w, h } : null;
}

export const link = (r) => `#${r.x},${r.y},${r.w},${r.h}`;

// place says where a rect is, as pages speak: counted from 1.
export function place(r) {
  const range = (name, from, length) => length === 1 ? `${name} ${from + 1}` : `${name}s ${from + 1} to ${from + length}`;
  return `${range("column", r.x, r.w)}, ${range("row", r.y, r.h)}`;
}
