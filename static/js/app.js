// What every page needs at once: one submit at a time, words for failed
// requests, and the loading of everything else after the first paint.
// The attributes that pages use are listed in views/doc.go.

const root = document.documentElement;
root.classList.add("js");

/* Toasts */

// toast shows a short message for as long as it takes to read. With an id, the
// reader can quote the request to us.
export function toast(text, id = "") {
  const box = document.createElement("p");
  box.className = "toast";
  box.append(text);
  if (id) {
    const code = document.createElement("code");
    code.textContent = id;
    box.append(" ", code);
  }
  const close = document.createElement("button");
  close.type = "button";
  close.className = "btn btn-quiet push";
  close.textContent = "Close";
  close.addEventListener("click", () => box.remove());
  box.append(close);
  const shelf = document.getElementById("toasts");
  shelf.replaceChildren(...[...shelf.children].slice(-2), box);
  setTimeout(() => box.remove(), id ? 60_000 : 6_000 + text.length * 60);
}

/* One submit at a time. The idempotency key in the form is what protects; this
   only spares people the doubt. */

const patience = 20_000;

function busy(form, on) {
  clearTimeout(form.patience);
  form.toggleAttribute("data-busy", on);
  for (const button of form.elements) {
    if (button.type !== "submit") continue;
    if (!on) wake(button);
    else if (!button.disabled) [button.dataset.off, button.disabled] = ["", true];
  }
  if (on) form.patience = setTimeout(busy, patience, form, false);
}

function wake(button) {
  if ("off" in button.dataset) button.disabled = false;
  delete button.dataset.off;
  button.removeAttribute("aria-busy");
}

function freeAll() {
  for (const form of document.querySelectorAll("form[data-busy]")) busy(form, false);
}

addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || "many" in form.dataset) return;
  const offline = navigator.onLine === false;
  if (offline) toast("You are offline. Nothing was sent; what you typed stays here.");
  const others = form.closest("[data-one]")?.querySelector("form[data-busy]");
  if (offline || others || "busy" in form.dataset) {
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  event.submitter?.setAttribute("aria-busy", "true");
  form.toggleAttribute("data-busy", true);
}, true);

// The last to hear of it: whoever handled the submit without a request of its
// own is done by now, and the form is free again at once.
addEventListener("submit", (event) => {
  const form = event.target;
  if (!("busy" in form.dataset)) return;
  if (event.defaultPrevented && !form.matches("[hx-post],[data-upload]")) return busy(form, false);
  // After this event: a disabled button would not send its name.
  setTimeout(() => { if ("busy" in form.dataset) busy(form, true); });
});

// release lets a form be sent again; upload.js calls it.
export const release = (form) => busy(form, false);

// A page that comes back from the back/forward cache is as it was left: with
// its buttons off, and perhaps belonging to somebody who has signed out since.
addEventListener("pageshow", (event) => {
  freeAll();
  if (event.persisted && "private" in document.body.dataset) {
    document.body.hidden = true;
    location.reload();
  }
});

/* What was typed must not be lost to a reload that we ask for. */

let dirty = false;
addEventListener("input", () => { dirty = true; }, true);
addEventListener("reset", () => { dirty = false; }, true);

export function refresh(why) {
  if (dirty) toast(why + " Reload the page to see how things stand; what you typed is still here.");
  else location.reload();
}

/* Answers to htmx and uploads */

// explain turns an answer that cannot be shown in its place into a toast.
export function explain(status, header, text = "") {
  const id = header("X-Request-Id") ?? "";
  if (status === 503) {
    const wait = Number.parseInt(header("Retry-After"), 10) || 0;
    toast(`The server is busy. Nothing is lost; please try again${wait > 1 ? ` in ${wait} seconds` : ""}.`, id);
  } else if (status >= 500) {
    toast("Something went wrong on our side. Nothing is lost; please try again. If it stays, quote this:", id);
  } else {
    const page = new DOMParser().parseFromString(text, "text/html");
    const words = (page.querySelector("h1, [role=alert]") ?? page.body).textContent.trim();
    toast(words.slice(0, 300) || `The server refused this (${status}).`, id);
  }
}

addEventListener("htmx:response:error", ({ detail: { ctx } }) => {
  const { status, headers } = ctx.response;
  const fits = ctx.target?.id && ctx.text.includes(`id="${ctx.target.id}"`);
  if (status < 500 && fits) return;
  ctx.swap = "none";
  explain(status, (name) => headers.get(name), ctx.text);
});

addEventListener("htmx:error", ({ detail: { ctx, error } }) => {
  if (ctx?.request && !ctx.response) {
    toast("No answer from the server. Trying again is safe: the same request counts once.");
  } else if (error) {
    console.error(error);
  }
});

addEventListener("htmx:finally:request", ({ target, detail: { ctx } }) => {
  const leaving = ctx.hx?.redirect || ctx.hx?.refresh;
  if (!leaving && target.matches?.("form")) busy(target, false);
});

// A button that stands outside of its form belongs, after an answer, to the form
// that came in the place of the one that switched it off.
addEventListener("htmx:after:swap", () => {
  for (const button of document.querySelectorAll("button[data-off]")) {
    if (!button.form?.matches("[data-busy]")) wake(button);
  }
});

/* The rest, when the page stands */

// Their addresses stand in the page: files named after their content cannot
// name each other in both directions.
const { modules, extras, upload } = document.querySelector("script[data-modules]").dataset;

function more() {
  if (document.querySelector("[data-countdown],[data-copy],[data-print],[data-poll]")) import(extras);
  if (document.querySelector("form[data-upload],input[data-preview]")) import(upload);
}

const starters = ["pointerdown", "keydown", "focusin"];

// The pictures come first; a hand on the page comes before them.
let started = false;
function start() {
  if (started) return;
  started = true;
  for (const name of starters) removeEventListener(name, start, true);
  for (const path of modules.split(" ").filter(Boolean)) import(path);
  more();
}

for (const name of starters) addEventListener(name, start, true);
if (document.readyState === "complete") start();
else addEventListener("load", () => document.hidden ? start() : requestAnimationFrame(() => setTimeout(start)));
addEventListener("htmx:after:swap", more);
