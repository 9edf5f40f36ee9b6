// Mouse, pen, fingers and keys on the drawing surface. What they mean is told
// to `act`; what is on screen is read from `state`.
//
// act.view(view)            another part of the canvas
// act.rect(rect, busy)      a selection, while it is drawn and when it is done
// act.tap(cell, kind)       true if the press was meant for something there
// act.hover(cell | null)    the mouse stands over a block
// act.enter(), act.clear()  keys
import { WHOLE, cellAt, contains, handleAt, pan, resize, same, shift, span, step, toPixels, zoomAt } from "./geometry.js";

const slop = 9;
const press = 600;

export function hands(surface, state, act) {
  const points = new Map();
  let gesture = null;
  let corner = null;
  let space = false;
  let entered = false;

  const at = (event) => {
    const r = surface.getBoundingClientRect();
    return { x: (event.clientX - r.left) * (state.size / r.width), y: (event.clientY - r.top) * (state.size / r.height) };
  };
  const cellOf = (p) => cellAt(state.view, state.size, p.x, p.y);

  // grip names the handle at a point. Places that are offered cover the handles of
  // what was lost.
  const grip = (p, reach) => state.rect && !state.nearest.some((r) => contains(r, cellOf(p)))
    && handleAt(state.view, state.size, state.rect, p.x, p.y, reach);

  /* Gestures: {move(point), end(point), cancel()}. Each ends exactly once. */

  function draw(start) {
    const before = state.rect;
    const anchor = cellOf(start);
    return {
      move: (p) => act.rect(span(anchor, cellOf(p)), true, anchor),
      end: () => act.rect(state.rect ?? before, false, anchor),
      cancel: () => act.rect(before, false),
    };
  }

  // pull moves a handle; a finger that only taps there meant the block.
  function pull(name, start, finger) {
    const before = state.rect;
    let moved = false;
    return {
      move(p) {
        moved ||= Math.hypot(p.x - start.x, p.y - start.y) > (finger ? slop : 0);
        if (moved) act.rect(resize(before, name, cellOf(p)), true);
      },
      end() {
        if (finger && !moved) tap(cellOf(start));
        else act.rect(state.rect, false);
      },
      cancel: () => act.rect(before, false),
    };
  }

  function drag(start, chain) {
    let from = start;
    surface.dataset.grab = "";
    const done = () => { delete surface.dataset.grab; };
    return {
      move(p) {
        const { view, rest } = pan(state.view, state.size, p.x - from.x, p.y - from.y);
        from = p;
        act.view(view);
        // At the edge the finger scrolls the page on.
        if (chain && Math.abs(rest.y) > 0.5) scrollBy(0, -rest.y);
      },
      end: done,
      cancel: done,
    };
  }

  function pinch() {
    const look = () => {
      const [a, b] = [...points.values()];
      return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, d: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)) };
    };
    let was = look();
    return {
      move() {
        const now = look();
        const zoomed = zoomAt(state.view, state.size, now.d / was.d, was.x, was.y);
        act.view(pan(zoomed, state.size, now.x - was.x, now.y - was.y).view);
        was = now;
      },
      end() {},
      cancel() {},
    };
  }

  // touch is a finger that has not said yet what it wants: a tap if it leaves
  // soon and stayed where it was, else the canvas is moved.
  function touch(start, time) {
    let moving = null;
    return {
      move(p) {
        if (!moving && Math.hypot(p.x - start.x, p.y - start.y) > slop) moving = drag(start, true);
        moving?.move(p);
      },
      end(p, now) {
        if (moving) return moving.end();
        if (now - time < press) tap(cellOf(start));
      },
      cancel() { moving?.cancel(); },
    };
  }

  // tap-tap: two opposite corners.
  function tap(cell) {
    if (!corner && act.tap(cell, "touch")) return;
    const first = corner;
    corner = first ? null : cell;
    act.rect(span(first ?? cell, cell), false, first ?? cell, !first);
  }

  function begin(event, p) {
    const finger = event.pointerType === "touch";
    const handle = !corner && grip(p, finger ? (state.mode ? 12 : 20) : 9);
    if (!finger && (event.button === 1 || space)) return drag(p);
    if (event.button !== 0) return null;
    if (handle) return pull(handle, p, finger);
    if (!finger) return mouse(p);
    return state.mode ? draw(p) : touch(p, event.timeStamp);
  }

  // mouse: a press on something that answers is an answer, unless it becomes a drag.
  function mouse(start) {
    const drawing = draw(start);
    const cell = cellOf(start);
    let moved = false;
    const answered = act.tap(cell, "mouse");
    if (!answered) drawing.move(start);
    return {
      move(p) {
        moved ||= !same({ ...cellOf(p), w: 1, h: 1 }, { ...cell, w: 1, h: 1 });
        if (moved || !answered) drawing.move(p);
      },
      end(p) { if (moved || !answered) drawing.end(p); },
      cancel() { if (moved || !answered) drawing.cancel(); },
    };
  }

  function finish(how, event) {
    const ending = gesture;
    gesture = null;
    if (!ending) return;
    if (how === "end") ending.end(event && at(event), event?.timeStamp);
    else ending.cancel();
  }

  surface.addEventListener("pointerdown", (event) => {
    const p = at(event);
    points.set(event.pointerId, p);
    surface.dataset.touched = ""; // no ring around what a pointer has focused
    surface.focus({ preventScroll: true });
    if (points.size > 2) return;
    if (points.size === 2) {
      finish("cancel");
      corner = null;
      gesture = pinch();
    } else {
      if (event.pointerType !== "touch") corner = null;
      gesture = begin(event, p);
    }
    try { surface.setPointerCapture(event.pointerId); } catch { /* gone already */ }
  });

  surface.addEventListener("pointermove", (event) => {
    const p = at(event);
    if (points.has(event.pointerId)) points.set(event.pointerId, p);
    if (gesture && points.has(event.pointerId)) gesture.move(p);
    else if (event.pointerType === "mouse") hover(p);
  });

  function hover(p) {
    const handle = grip(p, 9);
    surface.style.cursor = handle ? `${handle}-resize` : space ? "grab" : "";
    act.hover(cellOf(p));
  }

  const leave = (how) => (event) => {
    if (!points.delete(event.pointerId)) return;
    finish(how, event);
  };
  surface.addEventListener("pointerup", leave("end"));
  surface.addEventListener("pointercancel", leave("cancel"));
  surface.addEventListener("lostpointercapture", leave("end"));
  surface.addEventListener("blur", () => { delete surface.dataset.touched; });
  surface.addEventListener("pointerleave", () => { if (!gesture) act.hover(null); });
  addEventListener("blur", () => { points.clear(); finish("end"); space = false; });

  // With two fingers the page must neither scroll nor zoom.
  for (const name of ["touchstart", "touchmove"]) {
    surface.addEventListener(name, (event) => { if (event.touches.length > 1) event.preventDefault(); }, { passive: false });
  }
  surface.addEventListener("contextmenu", (event) => { if (event.pointerType === "touch" || gesture) event.preventDefault(); });
  // No text selection, no scrolling by the middle button.
  surface.addEventListener("mousedown", (event) => event.preventDefault());

  surface.addEventListener("wheel", (event) => {
    const p = at(event);
    const lines = event.deltaMode ? 20 : 1;
    const next = zoomAt(state.view, state.size, Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.002)), p.x, p.y);
    // Where there is nothing left to zoom the page scrolls on.
    if (next.zoom === state.view.zoom && !event.ctrlKey) return;
    event.preventDefault();
    act.view(next);
  }, { passive: false });

  /* Keys */

  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function walk([dx, dy], event) {
    const far = event.ctrlKey ? 10 : 1;
    const { anchor, head, rect } = state;
    if (!rect) {
      const cell = cellOf({ x: state.size / 2, y: state.size / 2 });
      return act.rect(span(cell, cell), false, cell);
    }
    if (event.shiftKey) {
      const to = step(head, dx * far, dy * far);
      return act.rect(span(anchor, to), false, anchor, false, to);
    }
    const moved = shift(rect, dx * far, dy * far);
    const by = (c) => ({ x: c.x + moved.x - rect.x, y: c.y + moved.y - rect.y });
    act.rect(moved, false, by(anchor), false, by(head));
  }

  const zoom = (factor) => {
    const p = state.rect
      ? toPixels(state.view, state.size, state.rect.x + state.rect.w / 2, state.rect.y + state.rect.h / 2)
      : { x: state.size / 2, y: state.size / 2 };
    act.view(zoomAt(state.view, state.size, factor, p.x, p.y));
  };

  const keys = {
    "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), _: () => zoom(1 / 1.5),
    0: () => act.view(WHOLE), Enter: () => { entered = true; }, " ": () => { space = true; },
    Escape() {
      corner = null;
      if (gesture) finish("cancel");
      else act.clear();
    },
  };

  surface.addEventListener("keydown", (event) => {
    delete surface.dataset.touched;
    if (event.altKey || event.metaKey) return;
    const arrow = arrows[event.key];
    if (!arrow && !Object.hasOwn(keys, event.key)) return;
    if (event.ctrlKey && !arrow) return;
    event.preventDefault();
    if (arrow) walk(arrow, event);
    else keys[event.key]();
  });
  // Space also works where the mouse is, as long as nothing else wants it.
  addEventListener("keydown", (event) => {
    if (event.key !== " " || document.activeElement !== document.body || !surface.matches(":hover")) return;
    event.preventDefault();
    space = true;
  });
  addEventListener("keyup", (event) => { if (event.key === " ") space = false; });
  // Only when the key is up again: a button that has the focus while Enter is
  // still down would be pressed by its repetition.
  surface.addEventListener("keyup", (event) => {
    if (event.key === "Enter" && entered) act.enter();
    entered = false;
  });

  return { zoom, cancel: () => finish("cancel"), forget: () => { corner = null; } };
}
