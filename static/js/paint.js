// Draws the canvas page's surface. Everything is redrawn from the state each
// time; nothing here decides anything.
import { COUNT, handles, scale, spread, toPixels } from "./geometry.js";

const names = ["cloth", "thread", "weave", "shade", "paper", "ink", "accent", "danger"];

// colours reads the page's own; they are registered, so light-dark() is resolved.
export function colours(element) {
  const style = getComputedStyle(element);
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`)]));
}

/* Patterns: each state has one, so that nothing rests on colour alone. */

const strokes = {
  held: "M0 6L6 0M-1 1L1 -1M5 7L7 5",
  reserved: "M3 2.25a.75.75 0 1 0 0 1.5a.75.75 0 0 0 0-1.5",
  blocked: "M0 0L6 6M6 0L0 6",
};

function pattern(pen, state, colour, ratio) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = Math.round(6 * ratio);
  const brush = tile.getContext("2d");
  brush.scale(tile.width / 6, tile.width / 6);
  brush.strokeStyle = colour;
  brush.lineWidth = 0.9;
  brush.stroke(new Path2D(strokes[state]));
  return pen.createPattern(tile, "repeat");
}

/* The painting */

export function paint(pen, s) {
  const { view, size, ratio, colour, board } = s;
  const snap = (v) => Math.round(v * ratio) / ratio;
  const box = (r) => {
    const a = toPixels(view, size, r.x, r.y);
    const b = toPixels(view, size, r.x + r.w, r.y + r.h);
    return [snap(a.x), snap(a.y), snap(b.x) - snap(a.x), snap(b.y) - snap(a.y)];
  };
  const brush = { pen, box, ...s };
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = colour.cloth;
  pen.fillRect(0, 0, size, size);
  grid(brush, snap);
  if (board) areas(brush);
  else if (s.picture) picture(brush, [{ x: 0, y: 0, w: COUNT, h: COUNT }]);
  for (const own of s.own) outline(brush, own, true);
  if (s.area) frame(brush, s.area, colour.ink, 2);
  else if (s.hover && !s.rect) frame(brush, { ...s.hover, w: 1, h: 1 }, colour.shade, 1);
  if (s.rect) selection(brush);
  offered(brush);
}

function grid({ pen, view, size, ratio, colour }, snap) {
  const hair = Math.max(1, Math.round(ratio / 2)) / ratio;
  const s = scale(view, size);
  const rule = (i) => {
    const p = toPixels(view, size, i, i);
    pen.fillRect(snap(p.x), 0, hair, size);
    pen.fillRect(0, snap(p.y), size, hair);
  };
  pen.fillStyle = colour.thread;
  pen.globalAlpha = Math.min(1, Math.max(0, (s - 2.5) / 3));
  for (let i = 1; i < COUNT; i++) rule(i);
  pen.globalAlpha = 1;
  pen.fillStyle = colour.weave;
  for (let i = 10; i < COUNT; i += 10) rule(i);
}

function areas(brush) {
  const { board } = brush;
  picture(brush, board.areas.filter((a) => a.state === "live"));
  for (const a of board.areas) if (a.state !== "live") possession(brush, a);
}

// picture shows the parts of the canvas picture that are alive, on white: that
// is what was approved, whatever the page's colours are. Each part is cut out
// by itself, so that nothing of its neighbours bleeds in.
function picture({ pen, box, view, size, picture: image }, rects) {
  const unit = (image?.naturalWidth ?? 0) / COUNT;
  pen.imageSmoothingEnabled = scale(view, size) < 20;
  pen.imageSmoothingQuality = "high";
  pen.fillStyle = "#fff";
  for (const r of rects) {
    const to = box(r);
    pen.fillRect(...to);
    if (image) pen.drawImage(image, r.x * unit, r.y * unit, r.w * unit, r.h * unit, ...to);
  }
}

function possession({ pen, box, ratio, colour, tiles }, area) {
  const [x, y, w, h] = box(area);
  pen.fillStyle = colour.cloth;
  pen.fillRect(x, y, w, h);
  if (strokes[area.state]) {
    pen.fillStyle = tiles[area.state] ??= pattern(pen, area.state, colour.shade, ratio);
    pen.setTransform(1, 0, 0, 1, x * ratio, y * ratio);
    pen.fillRect(0, 0, w * ratio, h * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  } else {
    pen.fillStyle = colour.weave;
    pen.fillRect(x, y, w, h);
  }
  pen.strokeStyle = colour.shade;
  pen.lineWidth = 1;
  pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
}

// frame draws a line just inside a rect, with a light one around it so that it
// shows on any picture.
function frame({ pen, box, colour }, rect, ink, width, dash = []) {
  const [x, y, w, h] = box(rect);
  pen.lineWidth = 1;
  pen.strokeStyle = colour.cloth;
  pen.strokeRect(x - 0.5, y - 0.5, w + 1, h + 1);
  pen.lineWidth = width;
  pen.strokeStyle = ink;
  pen.setLineDash(dash);
  pen.strokeRect(x + width / 2, y + width / 2, w - width, h - width);
  pen.setLineDash([]);
}

function wash({ pen, box }, rect, ink, alpha) {
  pen.globalAlpha = alpha;
  pen.fillStyle = ink;
  pen.fillRect(...box(rect));
  pen.globalAlpha = 1;
}

// outline is what is mine: a line and a flag on its upper left corner.
function outline(brush, rect, flag) {
  const { pen, box, colour } = brush;
  frame(brush, rect, colour.accent, 2);
  if (!flag) return;
  const [x, y] = box(rect);
  const up = y > 16 ? y - 15 : y;
  pen.fillStyle = colour.accent;
  pen.fillRect(x, up, 2, 15);
  pen.beginPath();
  pen.moveTo(x + 2, up);
  pen.lineTo(x + 12, up + 4);
  pen.lineTo(x + 2, up + 8);
  pen.fill();
}

// offered draws the places in reach, each with its number. Numbers of places that
// are smaller than their signs move apart, on a string.
function offered(brush) {
  const { pen, box, colour, lit, nearest, size } = brush;
  const centres = nearest.map((r) => {
    const [x, y, w, h] = box(r);
    return { x: x + w / 2, y: y + h / 2 };
  });
  nearest.forEach((r, i) => {
    wash(brush, r, colour.accent, i === lit ? 0.35 : 0.12);
    frame(brush, r, colour.accent, i === lit ? 3 : 1.5);
  });
  const signs = spread(centres, 20, size);
  pen.strokeStyle = colour.accent;
  pen.lineWidth = 1.5;
  signs.forEach((to, i) => {
    pen.beginPath();
    pen.moveTo(centres[i].x, centres[i].y);
    pen.lineTo(to.x, to.y);
    pen.stroke();
  });
  signs.forEach((at, i) => sign(brush, at, String(i + 1)));
}

function sign(brush, { x, y }, words) {
  const { pen, colour } = brush;
  pen.beginPath();
  pen.arc(x, y, 9, 0, 7);
  pen.fillStyle = colour.accent;
  pen.fill();
  text(brush, words, x, y, colour.paper, 11);
}

function text({ pen }, words, x, y, ink, px) {
  pen.font = `600 ${px}px system-ui, sans-serif`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = ink;
  pen.fillText(words, x, y + 0.5);
}

function selection(brush) {
  const { rect, colour, board, view, size, pen, coarse, busy } = brush;
  wash(brush, rect, colour.accent, 0.16);
  outline(brush, rect, !busy);
  for (const hit of board?.hits(rect) ?? []) {
    wash(brush, hit, colour.danger, 0.3);
    frame(brush, hit, colour.danger, 2, [5, 3]);
  }
  if (busy) return tag(brush);
  if (crowded(brush)) return;
  const half = coarse ? 6 : 4;
  for (const { x, y } of handles(view, size, rect)) {
    pen.fillStyle = colour.cloth;
    pen.fillRect(x - half, y - half, 2 * half, 2 * half);
    pen.strokeStyle = colour.accent;
    pen.lineWidth = 1.5;
    pen.strokeRect(x - half, y - half, 2 * half, 2 * half);
  }
}

// crowded is when offered places stand so near that the handles would cover
// them. They can still be pulled.
function crowded({ nearest, view, size, rect }) {
  return nearest.length > 0 && Math.min(rect.w, rect.h) * scale(view, size) < 24;
}

// tag says how large the rect is while it is drawn.
function tag(brush) {
  const { pen, box, rect, size, colour } = brush;
  const [x, y, w, h] = box(rect);
  const words = `${rect.w} × ${rect.h}`;
  const wide = words.length * 7 + 14;
  const left = Math.min(Math.max(x + w / 2 - wide / 2, 2), size - wide - 2);
  const top = y + h + 30 < size ? y + h + 8 : Math.max(2, y - 30);
  pen.fillStyle = colour.ink;
  pen.fillRect(left, top, wide, 22);
  text(brush, words, left + wide / 2, top + 11, colour.paper, 12);
}
