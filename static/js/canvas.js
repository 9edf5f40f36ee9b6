// The canvas page: lays a drawing surface over the picture and keeps surface,
// form and server's board in step. What is selected is what stands in the
// form; this page works without any of this, only less comfortably.
import { blocks, makeBoard } from "./board.js";
import { follow } from "./feed.js";
import { WHOLE, contains, limit, link, parseLink, reveal, same } from "./geometry.js";
import { hands } from "./hands.js";
import {
  $, emptiness, feedMark, ownPlaces, quote, readForm, renewKey, say, showCard, suggestions, tally, watchButton, writeForm,
} from "./label.js";
import { colours, paint } from "./paint.js";

const easel = $("easel");
const stage = $("stage");
const still = stage.querySelector("img");
const surface = document.createElement("canvas");
const pen = surface.getContext("2d", { alpha: false });

const state = {
  view: WHOLE, size: 0, ratio: 1, colour: null, tiles: {}, picture: null,
  board: null, max: Number(easel.dataset.max) || Infinity,
  rect: null, anchor: null, head: null, busy: false, waiting: false, lost: false,
  own: [], nearest: [], lit: -1, hover: null, area: null, pinned: false,
  mode: false, coarse: matchMedia("(any-pointer: coarse)").matches,
};

/* Drawing */

let ticket = 0;
function draw() {
  cancelAnimationFrame(ticket);
  ticket = 0;
  if (state.size) paint(pen, state);
}
const redraw = () => { ticket ||= requestAnimationFrame(draw); };

function look() {
  state.colour = colours(surface);
  state.tiles = {};
  redraw();
}

// measure is called by the observer before the browser paints: drawing at once
// leaves no frame with a stretched picture.
function measure([entry]) {
  const css = entry.contentBoxSize[0].inlineSize;
  const near = Math.round(css * devicePixelRatio);
  const exact = entry.devicePixelContentBoxSize?.[0].inlineSize ?? near;
  // Emulated screens report the pixels of the real one.
  const device = Math.abs(exact - near) > 2 ? near : exact;
  if (!css) return;
  [state.size, state.ratio, state.tiles] = [css, device / css, {}];
  state.view = limit(state.view, css);
  if (surface.width !== device) surface.width = surface.height = device;
  draw();
}

function observe() {
  const observer = new ResizeObserver(measure);
  try {
    observer.observe(surface, { box: "device-pixel-content-box" });
  } catch {
    observer.observe(surface);
  }
}

/* Selecting */

// select takes a new rect from wherever it comes and tells everybody else.
function select(rect, { busy = false, anchor, head, waiting = false, from = "surface" } = {}) {
  const changed = !same(rect, state.rect);
  Object.assign(state, { rect, busy, waiting });
  state.anchor = anchor ?? (rect && { x: rect.x, y: rect.y });
  state.head = head ?? (rect && opposite(rect, state.anchor));
  if (changed) {
    state.lost = false;
    if (from !== "form") writeForm(rect);
    renewKey();
  }
  if (!busy) remember(rect);
  speak();
  redraw();
}

// remember puts the selection into the address, once the hand has come to
// rest: browsers allow only so many changes of it.
let pause = 0;
function remember(rect) {
  clearTimeout(pause);
  pause = setTimeout(() => history.replaceState(history.state, "", rect ? link(rect) : location.pathname + location.search), 200);
}

const opposite = (rect, a) => ({ x: a.x === rect.x ? rect.x + rect.w - 1 : rect.x, y: a.y === rect.y ? rect.y + rect.h - 1 : rect.y });

function speak(more = "") {
  const words = quote(state);
  emptiness(!state.rect && !state.board?.areas.length);
  say([state.waiting ? "First corner set, tap the opposite one." : "", words, more].filter(Boolean).join(" "));
}

function card(area, pinned = false) {
  Object.assign(state, { area, pinned });
  redraw();
  return showCard(area, state.view, state.size);
}

let fading = 0;
const fade = () => {
  clearTimeout(fading);
  fading = setTimeout(() => { if (!state.pinned) card(null); }, 250);
};

const act = {
  view(view) {
    state.view = view;
    surface.toggleAttribute("data-hold", state.mode || view.zoom > 1);
    if (state.area) showCard(state.area, view, state.size);
    redraw();
  },
  rect(rect, busy, anchor, waiting, head) {
    card(null);
    select(rect, { busy, anchor, waiting, head });
    if (head && rect) keyboardAt(head);
  },
  tap(cell, kind) {
    const near = state.nearest.find((r) => contains(r, cell));
    if (near) {
      select(near);
      return true;
    }
    const area = state.board?.areaAt(cell);
    const answers = area?.state === "live" || (area && kind === "touch");
    card(answers ? area : null, Boolean(answers));
    return Boolean(answers);
  },
  hover(cell) {
    state.hover = cell;
    redraw();
    if (state.pinned) return;
    const area = cell && state.board?.areaAt(cell);
    if (!area) return fade();
    clearTimeout(fading);
    if (area !== state.area) card(area);
  },
  enter: () => $("hold-button").focus(),
  clear() {
    if (state.area) card(null);
    else select(null);
  },
};

// keyboardAt follows the moving corner: on screen, and with the card of what it meets.
function keyboardAt(head) {
  act.view(reveal(state.view, state.size, { ...head, w: 1, h: 1 }));
  const area = state.board?.areaAt(head);
  if (area) speak(`Here: ${card(area, true)}.`);
}

/* The server's board */

function onBoard(json) {
  const inTheWay = (board) => (board && state.rect ? blocks(board.hits(state.rect)) : 0);
  const before = state.board ? inTheWay(state.board) : Infinity;
  state.board = makeBoard(json, state.own);
  const now = inTheWay(state.board);
  state.lost = now > before || (state.lost && now > 0);
  if (state.area) card(json.areas.find((a) => same(a, state.area)) ?? null, state.pinned);
  tally(json);
  load(json.image.url);
  speak();
  redraw();
}

// load fetches the exact picture, once for each revision; the preview stands in.
let wanted = "";
async function load(url) {
  if (url === wanted) return;
  wanted = url;
  const image = new Image();
  image.src = url;
  try {
    await image.decode();
    if (wanted === url) state.picture = image;
    redraw();
  } catch {
    wanted = "";
  }
}

/* Form and fragments */

function onForm(event) {
  if (!event.target.matches?.("[data-part]")) return;
  event.target.removeAttribute("aria-invalid");
  const rect = readForm();
  select(rect, { from: "form" });
  if (rect) act.view(reveal(state.view, state.size, rect));
}

// adopt reads what the page says: at first, and when htmx brought a new panel.
function adopt() {
  state.own = ownPlaces();
  state.nearest = suggestions();
  state.lit = -1;
  watchButton();
  speak();
  redraw();
}

function onAnswer({ detail }) {
  if (detail.ctx?.target?.id !== "hold-panel") return;
  spent = false;
  adopt();
  refresh();
  const notice = $("hold-panel").querySelector("[role=alert], [role=status]");
  if (!notice) return;
  notice.tabIndex = -1;
  notice.focus({ preventScroll: true });
  notice.scrollIntoView({ block: "nearest" });
}

// Back from a rental this page may be as it was before the hold: then it asks
// for itself again, and what is selected stands in its address.
let spent = false;
function onReturn({ persisted }) {
  if (persisted && spent) location.reload();
}

function light(event) {
  const form = event.target.closest?.("[data-suggestion]");
  const lit = event.type === "focusout" || event.type === "mouseout" || !form
    ? -1 : [...document.querySelectorAll("[data-suggestion]")].indexOf(form);
  if (lit === state.lit) return;
  state.lit = lit;
  redraw();
}

function onLink() {
  const rect = parseLink(location.hash);
  if (!rect || same(rect, state.rect)) return;
  select(rect);
  act.view(reveal(state.view, state.size, rect));
}

/* Beginning */

function build() {
  surface.tabIndex = 0;
  surface.setAttribute("role", "application");
  surface.setAttribute("aria-roledescription", "canvas");
  surface.setAttribute("aria-label", "Canvas of 100 by 100 blocks. Arrow keys select, Shift extends, Enter goes to the button.");
  surface.setAttribute("aria-describedby", "canvas-status");
  still.after(surface);
  if (still.complete && still.naturalWidth) state.picture = still;
  else still.addEventListener("load", () => { state.picture ??= still; redraw(); }, { once: true });
}

function listen(hand) {
  const middle = (factor) => () => hand.zoom(factor);
  $("zoom-in").addEventListener("click", middle(1.5));
  $("zoom-out").addEventListener("click", middle(1 / 1.5));
  $("zoom-all").addEventListener("click", () => act.view(WHOLE));
  $("select-mode").hidden = !state.coarse;
  $("select-mode").addEventListener("click", ({ currentTarget }) => {
    state.mode = !state.mode;
    currentTarget.setAttribute("aria-pressed", state.mode);
    act.view(state.view);
    say(state.mode ? "Select is on: drag over the blocks." : "Select is off: tap two corners.");
  });
  const area = $("area-card");
  area.addEventListener("pointerenter", () => clearTimeout(fading));
  area.addEventListener("pointerleave", fade);
  area.addEventListener("keydown", (event) => { if (event.key === "Escape") { card(null); surface.focus(); } });
  easel.addEventListener("input", onForm);
  for (const name of ["mouseover", "mouseout", "focusin", "focusout"]) easel.addEventListener(name, light);
  easel.addEventListener("submit", () => { spent = true; });
  addEventListener("pageshow", onReturn);
  addEventListener("hashchange", onLink);
  addEventListener("htmx:after:swap", onAnswer);
  for (const query of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"]) matchMedia(query).addEventListener("change", look);
}

build();
look();
const hand = hands(surface, state, act);
listen(hand);
observe();
adopt();
onLink();
const typed = !state.rect && readForm();
if (typed) select(typed, { from: "form" });
const refresh = follow(easel.dataset.board, { onBoard, onState: feedMark });
stage.dataset.ready = "";
