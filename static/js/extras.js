// Small things that only some pages have: countdowns, copying, printing, and
// waiting for the server to make up its mind.
import { refresh, toast } from "./app.js";

/* Countdowns. The server says how many seconds remain; the browser's clock is
   never asked, since it may be wrong by hours. */

const ends = new WeakMap();

function words(s) {
  if (s >= 172_800) return `${Math.floor(s / 86_400)} days ${Math.floor((s % 86_400) / 3600)} h`;
  if (s >= 3600) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  if (s >= 60) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${s} s`;
}

function tick(element) {
  if (!ends.has(element)) ends.set(element, performance.now() + Number(element.dataset.countdown) * 1000);
  const left = Math.ceil((ends.get(element) - performance.now()) / 1000);
  if (left > 0) {
    element.textContent = words(left);
    if (left === 60) toast("One minute left.");
  } else if (!("over" in element.dataset)) {
    over(element);
  }
}

function over(element) {
  element.dataset.over = "";
  element.textContent = element.dataset.gone;
  element.dispatchEvent(new CustomEvent("tuval:elapsed", { bubbles: true }));
  // Zero in the answer itself: the server knows, asking again would loop.
  if (element.dataset.done === "reload" && Number(element.dataset.countdown) > 0) {
    setTimeout(refresh, 700, "Time is over.");
  }
}

// performance.now() stands still while a machine sleeps. A gap between it and
// the calendar means that what we count is no longer what the server counts.
let drift = Date.now() - performance.now();

function tickAll() {
  const elements = document.querySelectorAll("[data-countdown]");
  for (const element of elements) tick(element);
  const gap = Date.now() - performance.now() - drift;
  drift += gap;
  if (elements.length && gap > 5000) refresh("This page has slept.");
}

tickAll();
setInterval(tickAll, 1000);
addEventListener("htmx:after:swap", tickAll);

/* Copying and printing */

addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy],[data-print]");
  if (!button) return;
  if ("print" in button.dataset) return print();
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    toast("Copied.");
  } catch {
    prompt("Copy this:", button.dataset.copy);
  }
});

/* Waiting: the page asks for itself until the answer has moved on. */

async function poll(wait) {
  const waiting = document.querySelector("[data-poll]");
  if (!waiting) return;
  if (!document.hidden) {
    try {
      const answer = await fetch(location.href, { cache: "no-store", headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (answer.ok && !page.querySelector("[data-poll]")) return location.replace(answer.url);
    } catch {
      // Away for the moment; the next turn asks again.
    }
  }
  setTimeout(poll, wait * 1000, Math.min(wait * 1.3, 15));
}

const first = Number(document.querySelector("[data-poll]")?.dataset.poll);
if (first > 0) setTimeout(poll, first * 1000, first);
