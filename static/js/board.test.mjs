import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, makeBoard, money, priceOf } from "./board.js";

const areas = [
  { x: 0, y: 0, w: 10, h: 10, state: "live", id: "a" },
  { x: 10, y: 0, w: 2, h: 2, state: "held" },
  { x: 99, y: 99, w: 1, h: 1, state: "reserved" },
];
const json = { areas, price: { amount: 10000, currency: "usd" } };

test("which area a block belongs to, edges included", () => {
  const board = makeBoard(json);
  assert.equal(board.areaAt({ x: 9, y: 9 }), areas[0]);
  assert.equal(board.areaAt({ x: 10, y: 0 }), areas[1]);
  assert.equal(board.areaAt({ x: 12, y: 0 }), null);
  assert.equal(board.areaAt({ x: 99, y: 99 }), areas[2]);
  assert.equal(board.areaAt({ x: 98, y: 99 }), null);
});

test("what is in the way of a rect", () => {
  const board = makeBoard(json);
  assert.deepEqual(board.hits({ x: 20, y: 20, w: 5, h: 5 }), []);
  assert.deepEqual(board.hits({ x: 12, y: 0, w: 5, h: 5 }), []);
  const found = board.hits({ x: 8, y: 1, w: 4, h: 3 });
  assert.deepEqual(found, [{ x: 8, y: 1, w: 2, h: 3 }, { x: 10, y: 1, w: 2, h: 1 }]);
  assert.equal(blocks(found), 8);
  assert.equal(blocks(board.hits({ x: 0, y: 0, w: 100, h: 100 })), 105);
});

test("what is one's own is in nobody's way", () => {
  const board = makeBoard(json, [{ x: 10, y: 0, w: 2, h: 2 }]);
  assert.deepEqual(board.hits({ x: 10, y: 0, w: 2, h: 2 }), []);
  const other = makeBoard(json, [{ x: 10, y: 0, w: 2, h: 1 }, { x: 50, y: 50, w: 1, h: 1 }]);
  assert.equal(blocks(other.hits({ x: 10, y: 0, w: 2, h: 2 })), 4);
});

test("an empty board", () => {
  const board = makeBoard({ areas: [], price: json.price });
  assert.equal(board.areaAt({ x: 0, y: 0 }), null);
  assert.deepEqual(board.hits({ x: 0, y: 0, w: 100, h: 100 }), []);
});

test("money, as the server writes it", () => {
  assert.equal(money({ amount: 240000, currency: "usd" }), "2,400.00 USD");
  assert.equal(money({ amount: 5, currency: "usd" }), "0.05 USD");
  assert.equal(money({ amount: 1234567, currency: "jpy" }), "1,234,567 JPY");
  assert.equal(money({ amount: 1500, currency: "kwd" }), "1.500 KWD");
  assert.equal(priceOf(json, { x: 0, y: 0, w: 6, h: 4 }), "2,400.00 USD");
  assert.equal(priceOf(json, { x: 0, y: 0, w: 100, h: 100 }), "1,000,000.00 USD");
});
