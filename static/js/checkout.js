// The forms that buy weeks: the total of the chosen weeks, and until when they
// last, said before anything is sent; the total is sent along, so that a page left open cannot charge another amount;
// and the go-live hour in the reader's own time beside the UTC one.

function total(form) {
  const chosen = form.querySelector("[name=weeks]:checked");
  const expected = form.querySelector("[data-expected]");
  if (!chosen) return;
  form.querySelector("[data-total]").textContent = chosen.dataset.text;
  expected.value = chosen.dataset.amount;
  expected.disabled = false;
  const ends = form.querySelector("output[data-ends]");
  if (ends) ends.textContent = chosen.dataset.ends;
}

const here = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short" });
const zone = here.resolvedOptions().timeZone;

function local(form) {
  const hour = form.elements.go_live_at;
  if (!hour) return;
  const line = form.querySelector(`[data-local-for="${hour.id}"]`);
  const at = new Date(hour.value + "Z");
  line.textContent = Number.isNaN(at.valueOf()) ? "" : `Where you are (${zone}): ${here.format(at)}`;
}

function all() {
  for (const form of document.querySelectorAll("form[data-checkout]")) {
    total(form);
    local(form);
  }
}

addEventListener("input", ({ target }) => {
  if (target.form && "checkout" in target.form.dataset) all();
});
addEventListener("htmx:after:swap", all);
addEventListener("pageshow", all); // the browser may have put a choice back
all();
