// What the server says about the canvas, in a form that answers quickly
// whether blocks are free. Pure: no DOM.
import { COUNT, intersection } from "./geometry.js";

// makeBoard reads the answer of GET /api/v1/board. `own` are rects of whoever
// is looking; they are in nobody's way.
export function makeBoard(json, own = []) {
  const owner = new Int32Array(COUNT * COUNT).fill(-1);
  const mark = (r, value) => {
    for (let y = r.y; y < r.y + r.h; y++) owner.fill(value, y * COUNT + r.x, y * COUNT + r.x + r.w);
  };
  json.areas.forEach(mark);
  const mine = new Set(own.flatMap((r) => {
    const i = owner[r.y * COUNT + r.x];
    return i >= 0 && json.areas[i].w === r.w && json.areas[i].h === r.h ? [i] : [];
  }));
  const areaAt = (c) => json.areas[owner[c.y * COUNT + c.x]] ?? null;
  return { ...json, areaAt, hits: (r) => hits(json.areas, mine, r) };
}

// hits are the parts of a rect that are not free.
function hits(areas, mine, rect) {
  return areas.flatMap((a, i) => (mine.has(i) ? null : intersection(a, rect)) ?? []);
}

export const blocks = (rects) => rects.reduce((sum, r) => sum + r.w * r.h, 0);

// money writes an amount of minor units as the pages of the server do:
// "2,400.00 USD".
export function money({ amount, currency }) {
  const code = currency.toUpperCase();
  const { maximumFractionDigits: digits } = new Intl.NumberFormat("en", { style: "currency", currency: code }).resolvedOptions();
  const format = new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${format.format(amount / 10 ** digits)} ${code}`;
}

// priceOf is the price of a rect for a week.
export const priceOf = (board, r) => money({ ...board.price, amount: board.price.amount * r.w * r.h });
