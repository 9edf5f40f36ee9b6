// Choosing and sending a picture: a preview at its real size before anything
// is sent, progress while it is sent, and the answer in its place.
import { explain, release, toast } from "./app.js";

/* Preview */

function place(mode, from, to) {
  const scale = mode === "contain"
    ? Math.min(to.width / from.width, to.height / from.height)
    : Math.max(to.width / from.width, to.height / from.height);
  const width = from.width * scale;
  const height = from.height * scale;
  return [(to.width - width) / 2, (to.height - height) / 2, width, height];
}

function say(input, text) {
  const line = document.querySelector(`[data-preview-text="${input.dataset.preview}"]`);
  if (line) line.textContent = text;
}

function show(input, on) {
  for (const box of document.querySelectorAll(`[data-preview-for="${input.dataset.preview}"]`)) box.hidden = !on;
}

const size = (bytes) => bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

async function preview(input) {
  const file = input.files[0];
  const most = Number(input.dataset.maxBytes ?? 0);
  const tooLarge = Boolean(file) && most > 0 && file.size > most;
  input.setCustomValidity(tooLarge ? `This file has ${size(file.size)}; at most ${size(most)} are possible.` : "");
  if (!file || tooLarge) {
    show(input, false);
    if (tooLarge) input.reportValidity();
    return say(input, tooLarge ? input.validationMessage : "");
  }
  try {
    const picture = await createImageBitmap(file, { imageOrientation: "from-image" });
    if (file !== input.files[0]) return;
    paint(input, picture);
    say(input, `${file.name}, ${picture.width} × ${picture.height} px, ${size(file.size)}`);
  } catch {
    show(input, false);
    say(input, "Your browser cannot show this file. If it is a PNG, JPEG, WebP or GIF, you can send it all the same.");
  }
}

function paint(input, picture) {
  const canvas = document.getElementById(input.dataset.preview);
  const mode = input.form?.elements.fit?.value || "cover";
  const draw = canvas.getContext("2d");
  draw.clearRect(0, 0, canvas.width, canvas.height);
  draw.imageSmoothingQuality = "high";
  draw.drawImage(picture, ...place(mode, picture, canvas));
  show(input, true);
}

addEventListener("change", ({ target }) => {
  if (target.matches("[data-preview]")) preview(target);
  if (target.name !== "fit") return;
  const input = target.form?.querySelector("[data-preview]");
  if (input?.files.length) preview(input);
});

/* Sending */

addEventListener("submit", (event) => {
  const form = event.target;
  if (!("upload" in form.dataset) || event.defaultPrevented) return;
  event.preventDefault();
  send(form, new FormData(form, event.submitter));
});

function send(form, data) {
  const request = new XMLHttpRequest();
  const bar = form.querySelector("[data-progress]");
  const text = form.querySelector("[data-progress-text]");
  const step = (part, words) => {
    if (bar) bar.hidden = part === null;
    if (bar && part !== null) bar.value = part * bar.max;
    if (text) text.textContent = words;
  };
  request.upload.addEventListener("progress", ({ loaded, total, lengthComputable }) => {
    if (!lengthComputable) return;
    const part = loaded / total;
    step(part, part < 1 ? `${Math.floor(part * 100)} % sent` : "Sent. Looking at the picture…");
  });
  request.addEventListener("load", () => answer(form, request));
  request.addEventListener("error", () => toast("The connection broke. Nothing is lost; please try again."));
  request.addEventListener("timeout", () => toast("This takes too long. Please try again."));
  request.addEventListener("loadend", () => { step(null, ""); });
  for (const name of ["error", "timeout", "abort"]) request.addEventListener(name, () => release(form));
  request.open("POST", form.action);
  request.timeout = 300_000;
  request.setRequestHeader("HX-Request", "true");
  request.setRequestHeader("HX-Target", form.dataset.upload);
  request.setRequestHeader("HX-Current-URL", location.href);
  step(0, "0 % sent");
  request.send(data);
}

// answer treats the reply as htmx would: a header that leads elsewhere, or the
// element named in data-upload, to be put in the place of the present one.
function answer(form, request) {
  const header = (name) => request.getResponseHeader(name);
  const elsewhere = header("HX-Redirect") ?? (request.status < 400 && request.responseURL !== form.action ? request.responseURL : null);
  if (elsewhere) return location.assign(elsewhere);
  release(form);
  const page = new DOMParser().parseFromString(request.responseText, "text/html");
  const now = document.getElementById(form.dataset.upload);
  const next = page.getElementById(form.dataset.upload);
  if (request.status >= 500 || !now || !next) return explain(request.status, header, request.responseText);
  now.replaceWith(next);
  keepFiles(form, next);
  globalThis.htmx?.process(next);
  next.querySelector("[aria-invalid], [role=alert]")?.focus();
}

// keepFiles saves people from choosing the file again because the link was wrong.
function keepFiles(old, next) {
  for (const input of old.querySelectorAll("input[type=file]")) {
    const heir = next.querySelector(`input[type=file][name="${input.name}"]`);
    if (!heir || !input.files.length) continue;
    heir.files = input.files;
    if (heir.dataset.preview) preview(heir);
  }
}

// A picture may have been chosen before this script arrived.
for (const input of document.querySelectorAll("[data-preview]")) if (input.files.length) preview(input);
