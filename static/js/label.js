// The words beside the canvas: the form, what a selection costs and whether it
// is free, the card of an area, the bar at the foot of small screens.
import { blocks, priceOf } from "./board.js";
import { place, same, scale, toPixels, valid } from "./geometry.js";

export const $ = (id) => document.getElementById(id);
const number = (n) => n.toLocaleString("en");

/* The form is the truth: a selection is what stands in it. */

const fields = () => {
  const { col, row, w, h } = $("hold-form").elements;
  return [col, row, w, h];
};

export function readForm() {
  const [col, row, w, h] = fields().map((f) => /^\d{1,3}$/.test(f.value.trim()) ? Number(f.value) : NaN);
  const rect = { x: col - 1, y: row - 1, w, h };
  return valid(rect) ? rect : null;
}

export function writeForm(rect) {
  const values = rect ? [rect.x + 1, rect.y + 1, rect.w, rect.h] : ["", "", "", ""];
  fields().forEach((f, i) => {
    f.value = values[i];
    f.removeAttribute("aria-invalid");
  });
}

// renew makes the next submit a request of its own. A key is spent as soon as
// it held something, and this page may come back after that.
export function renewKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  $("hold-form").elements.request_id.value = Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

/* What it costs */

function standing({ board, rect, max, lost, own }) {
  const all = rect.w * rect.h;
  const busy = blocks(board.hits(rect));
  if (all > max) return [`One hold has at most ${number(max)} blocks.`, true];
  if (own.some((r) => same(r, rect))) return ["You have these blocks already.", false];
  if (busy && lost) return [`Somebody else has just taken ${busy} of these ${all} blocks.`, true];
  if (busy) return [`${busy} of ${all} ${all === 1 ? "block is" : "blocks are"} not free.`, true];
  return [all === 1 ? "Free." : "All free.", false];
}

export function quote(state) {
  const { board, rect, waiting } = state;
  const [rule, price, note, verdict] = [...$("quote").children];
  const shown = Boolean(rect && board);
  rule.hidden = shown;
  price.hidden = note.hidden = verdict.hidden = !shown;
  $("dock").hidden = !shown || "seen" in $("dock").dataset;
  if (!shown) return "";
  const [words, bad] = standing(state);
  const amount = priceOf(board, rect);
  const size = `${rect.w} × ${rect.h} ${rect.w * rect.h === 1 ? "block" : "blocks"}`;
  const strong = document.createElement("b");
  strong.textContent = amount;
  price.replaceChildren(strong, "a week");
  note.textContent = `${size}, ${number(rect.w * 10)} × ${number(rect.h * 10)} pixels`;
  const mark = document.createElement("i");
  mark.className = `mark mark-${bad ? "conflict" : "ok"}`;
  verdict.replaceChildren(mark, words);
  $("dock-text").textContent = waiting ? "Tap the opposite corner" : `${rect.w} × ${rect.h} · ${amount} a week`;
  return `${size}, ${place(rect)}. ${amount} a week. ${words}`;
}

// say speaks once the hand has come to rest.
let pending = 0;
export function say(words) {
  clearTimeout(pending);
  pending = setTimeout(() => { $("canvas-status").textContent = words; }, 350);
}

export function tally(board) {
  document.querySelector("[data-free]").textContent = number(board.counts.free);
}

const feedWords = { live: "Live", reconnecting: "Reconnecting", offline: "Offline: this may be out of date" };

export function feedMark(state) {
  const mark = $("feed");
  if (mark.dataset.feed === state) return;
  mark.dataset.feed = state;
  mark.textContent = feedWords[state];
}

// dock shows while the form's own button is out of sight.
const eye = new IntersectionObserver(([entry]) => {
  $("dock").toggleAttribute("data-seen", entry.isIntersecting);
  $("dock").hidden = entry.isIntersecting || $("quote-price").hidden;
});
export function watchButton() {
  eye.disconnect();
  eye.observe($("hold-button"));
}

/* Places that stand in the page */

const parse = (text) => {
  const [x, y, w, h] = text.split(",").map(Number);
  return { x, y, w, h };
};
export const suggestions = () => [...document.querySelectorAll("[data-suggestion]")].map((f) => parse(f.dataset.suggestion));
export const ownPlaces = () => [...document.querySelectorAll("[data-mine]")].map((a) => ({ ...parse(a.dataset.mine), href: a.href }));

/* The card of an area */

const clock = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short",
});
const when = (until) => clock.format(new Date(until));

function facts({ state, until }) {
  const time = until && when(until);
  switch (state) {
    case "live": return ["", time ? `On the canvas until ${time}` : "On the canvas"];
    case "held": return ["On hold", time ? `Free again ${time}, unless it is paid for` : "Free again within minutes, unless it is paid for"];
    case "reserved": return ["Reserved", `For its last renter${time ? ` until ${time}, then free` : ""}`];
    case "blocked": return ["Not for rent", time ? `Until ${time}` : ""];
    default: return ["Taken", "Its picture is not up yet"];
  }
}

function anchor(href, words, outside) {
  const a = document.createElement("a");
  a.href = href;
  a.textContent = words;
  if (outside) [a.target, a.rel] = ["_blank", "sponsored nofollow noopener ugc"];
  return a;
}

const line = (tag, words) => {
  const element = document.createElement(tag);
  element.textContent = words;
  return element;
};

// showCard writes what is known about an area beside it; null hides the card.
export function showCard(area, view, size) {
  const card = $("area-card");
  card.hidden = !area;
  if (!area) return "";
  const [title, note] = facts(area);
  const name = area.title || title;
  card.replaceChildren(line("b", name), ...[area.link_host, note].filter(Boolean).map((t) => line("p", t)));
  if (area.id) {
    const links = line("p", "");
    links.className = "cluster";
    if (area.link_host) links.append(anchor(`/go/${encodeURIComponent(area.id)}`, "Visit", true));
    links.append(anchor(`/areas/${encodeURIComponent(area.id)}`, "Details"));
    card.append(links);
  }
  settle(card, area, view, size);
  return [name, area.link_host, note].filter(Boolean).join(", ");
}

function settle(card, area, view, size) {
  const a = toPixels(view, size, area.x, area.y);
  const bottom = a.y + area.h * scale(view, size);
  const below = bottom + 8 + card.offsetHeight <= size || a.y < card.offsetHeight + 8;
  const top = below ? Math.min(bottom + 8, size - card.offsetHeight) : a.y - card.offsetHeight - 8;
  card.style.insetInlineStart = `${Math.min(Math.max(a.x, 0), Math.max(0, size - card.offsetWidth))}px`;
  card.style.insetBlockStart = `${Math.max(0, top)}px`;
}

export const emptiness = (on) => { const e = $("stage-empty"); if (e) e.hidden = !on; };
