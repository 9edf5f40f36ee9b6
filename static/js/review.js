// The review queue by hand and by keys. A decision waits here for ten seconds,
// or until the next one, before it is sent, so that it can be taken back; the
// server knows no undo. Leaving the page sends it. Without this script the same
// forms work, at once.
import { explain, toast } from "./app.js";

const grace = 10_000;
const queue = document.querySelector("[data-review]");
const waiting = () => [...queue.querySelectorAll("[data-item]:not([hidden])")];

let held = null; // the one decision that is not sent yet

/* Deciding */

// bodyOf is what the form sends. A ready-made reason and typed words go together.
function bodyOf(form, submitter) {
  const data = new FormData(form, submitter);
  const typed = form.closest("[data-item]").querySelector("textarea").value.trim();
  if (submitter?.dataset.reason !== undefined && typed) data.set("reason", `${submitter.value}\n${typed}`);
  return new URLSearchParams(data);
}

function hold(form, submitter) {
  const item = form.closest("[data-item]");
  const next = after(item);
  flush();
  const note = document.getElementById("review-pending").content.firstElementChild.cloneNode(true);
  note.querySelector("[data-what]").textContent = form.dataset.decision === "approved" ? "Approved:" : "Rejected:";
  note.querySelector("[data-name]").textContent = item.dataset.name;
  item.before(note);
  item.hidden = true;
  held = { item, note, action: form.action, body: bodyOf(form, submitter), until: performance.now() + grace };
  held.timer = setInterval(tick, 250);
  tick();
  count();
  go(next);
}

function tick() {
  const left = Math.ceil((held.until - performance.now()) / 1000);
  if (left <= 0) return flush();
  held.note.querySelector("[data-left]").textContent = `Sent in ${left} s`;
}

function takeBack() {
  if (!held) return;
  const { item, note, timer } = held;
  clearInterval(timer);
  held = null;
  restore(item, note);
}

function restore(item, note) {
  note.remove();
  item.hidden = false;
  count();
  go(item);
}

// flush sends the decision that waits. keepalive lets it outlive the page.
function flush() {
  if (!held) return;
  const decision = held;
  clearInterval(decision.timer);
  held = null;
  decision.note.querySelector(".cluster").hidden = true;
  decision.note.querySelector("[data-left]").textContent = "Sending…";
  send(decision);
}

async function send({ item, note, action, body }) {
  let answer;
  try {
    answer = await fetch(action, { method: "POST", body, headers: { "HX-Request": "true" }, keepalive: true });
  } catch {
    toast("No answer from the server; the decision was not sent. Trying again is safe.");
    return restore(item, note);
  }
  const text = await answer.text();
  const outcome = new DOMParser().parseFromString(text, "text/html").querySelector("[data-outcome]");
  if (!outcome) {
    if (new URL(answer.url).pathname.startsWith("/admin/login") || answer.status === 401) {
      toast("You are signed out. Sign in in another tab, then decide again; what you typed is still here.");
    } else {
      explain(answer.status, (name) => answer.headers.get(name), text);
    }
    return restore(item, note);
  }
  item.remove();
  note.replaceWith(outcome);
  if (answer.ok) setTimeout(() => outcome.remove(), 8000);
  count();
}

/* Moving */

function after(item) {
  const all = waiting();
  const i = all.indexOf(item);
  return all[i + 1] ?? all[i - 1];
}

function go(item) {
  if (!item) return document.getElementById("review-empty").querySelector("a").focus();
  item.focus({ preventScroll: true });
  item.scrollIntoView({ block: "start", behavior: "auto" });
}

const present = () => document.activeElement?.closest("[data-item]") ?? null;

function step(by) {
  const all = waiting();
  const i = all.indexOf(present());
  go(all[Math.min(Math.max(i + by, 0), all.length - 1)]);
}

function count() {
  const n = waiting().length;
  document.getElementById("review-empty").hidden = n > 0;
  document.getElementById("review-count").textContent = n === 1 ? "1 picture waiting." : `${n} pictures waiting.`;
}

/* Keys: single letters, so they can be switched off, and never while typing. */

const toggle = document.querySelector("[data-keys]");
const remembered = "tuval.review.keys";

function keysOn(on) {
  toggle.setAttribute("aria-pressed", on);
  localStorage.setItem(remembered, on ? "on" : "off");
}

const keys = {
  j: () => step(1),
  k: () => step(-1),
  a: (item) => item.querySelector("[data-decision=approved]").requestSubmit(),
  r: (item) => (item.querySelector("[data-reason]") ?? item.querySelector("textarea")).focus(),
  z: takeBack,
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const key = event.key.toLowerCase();
  if (toggle.getAttribute("aria-pressed") !== "true" || !Object.hasOwn(keys, key)) return;
  const item = present() ?? waiting()[0];
  if ((key === "a" || key === "r") && !item) return;
  event.preventDefault();
  keys[key](item);
});

/* Wiring */

queue.addEventListener("submit", (event) => {
  if (event.defaultPrevented || !event.target.matches("[data-decision]")) return;
  event.preventDefault();
  hold(event.target, event.submitter);
});
queue.addEventListener("click", ({ target }) => {
  if (target.closest("[data-undo]")) takeBack();
  if (target.closest("[data-send]")) flush();
});
toggle.addEventListener("click", () => keysOn(toggle.getAttribute("aria-pressed") !== "true"));
keysOn(localStorage.getItem(remembered) !== "off");

addEventListener("pagehide", flush);
// Back from the back/forward cache the queue is old; ask for the present one.
addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });
