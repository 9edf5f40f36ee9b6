import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { follow } from "./feed.js";

// A browser of the size that feed.js needs: answers are given by the test,
// and no timer runs by itself.
let answers;
let asked;
let listeners;
let timers;

beforeEach(() => {
  [answers, asked, listeners, timers] = [[], [], {}, []];
  const listen = (name, f) => { (listeners[name] ??= []).push(f); };
  globalThis.document = { hidden: false, addEventListener: listen };
  globalThis.addEventListener = listen;
  Object.defineProperty(globalThis, "navigator", { value: { onLine: true }, configurable: true, writable: true });
  globalThis.setTimeout = (f, ms) => timers.push(ms);
  globalThis.clearTimeout = () => {};
  globalThis.fetch = async (url, options) => {
    asked.push(options.headers);
    const next = answers.shift();
    if (next instanceof Error) throw next;
    return next;
  };
});

const fire = (name, event = {}) => listeners[name].forEach((f) => f(event));

const board = (etag, areas = [], now = new Date()) => ({
  ok: true, status: 200, json: async () => ({ areas }),
  headers: new Headers({ ETag: etag, Date: now.toUTCString() }),
});
const unchanged = { ok: false, status: 304, headers: new Headers() };

function begin() {
  const boards = [];
  const states = [];
  const refresh = follow("/board", { onBoard: (b) => boards.push(b), onState: (s) => states.push(s) });
  return { boards, states, refresh };
}

test("asks with the mark of what it has, and says nothing when nothing changed", async () => {
  answers.push(board('"1"'), unchanged, board('"2"'));
  const { boards, states, refresh } = begin();
  await refresh();
  await refresh();
  await refresh();
  assert.deepEqual(asked, [{}, { "If-None-Match": '"1"' }, { "If-None-Match": '"1"' }]);
  assert.equal(boards.length, 2);
  assert.deepEqual(states, ["live", "live", "live"]);
});

test("two questions at once are one", async () => {
  answers.push(board('"1"'));
  const { refresh } = begin();
  await Promise.all([refresh(), refresh()]);
  assert.equal(asked.length, 1);
});

test("asks again right after the next end by the server's clock", async () => {
  const server = new Date(Date.now() - 3_600_000);
  answers.push(board('"1"', [{ until: new Date(server.getTime() + 5000).toISOString() }, {}], server));
  const { refresh } = begin();
  await refresh();
  assert.equal(timers.length, 1);
  assert.ok(timers[0] > 4000 && timers[0] < 7000, String(timers[0]));
});

test("never later than a quarter of a minute", async () => {
  answers.push(board('"1"', [{ until: new Date(Date.now() + 1e9).toISOString() }]));
  await begin().refresh();
  assert.deepEqual(timers, [15_000]);
});

test("trouble is said, and asked about with growing patience", async () => {
  answers.push(new Error("gone"), { ok: false, status: 503 }, new Error("gone"), board('"1"'));
  const { states, refresh } = begin();
  for (let i = 0; i < 4; i++) {
    if (i === 2) navigator.onLine = false;
    await refresh();
  }
  assert.deepEqual(states, ["reconnecting", "reconnecting", "offline", "live"]);
  assert.ok(timers[0] >= 1000 && timers[0] < 3000 && timers[1] >= 2000 && timers[1] < 6000);
});

test("a hidden page asks nothing until it is seen again", async () => {
  answers.push(board('"1"'), unchanged);
  const { refresh } = begin();
  document.hidden = true;
  await refresh();
  assert.equal(timers.length, 0);
  fire("visibilitychange");
  assert.equal(asked.length, 1);
  document.hidden = false;
  fire("visibilitychange");
  await refresh();
  assert.equal(asked.length, 2);
});

test("the network's comings and goings", async () => {
  answers.push(board('"1"'), unchanged);
  const { states, refresh } = begin();
  await refresh();
  fire("offline");
  fire("online");
  await refresh();
  assert.deepEqual(states, ["live", "offline", "live"]);
});
