// How the page hears of changes. This is the one seam: whoever brings changes
// faster than by asking replaces what is in here and nothing else. It calls
// onBoard(json) with each new board and onState("live" | "reconnecting" |
// "offline") when the connection changes; `refresh` asks at once.

const every = 15_000;

export function follow(url, { onBoard, onState }) {
  let etag = "";
  let timer = 0;
  let asking = null;
  let failures = 0;
  let skew = 0; // server's clock minus ours, ms

  const later = (ms) => {
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(refresh, ms);
  };

  // The board says until when areas last: ask again right after the next end.
  const pause = (board) => {
    const now = Date.now() + skew;
    const ends = board.areas.map((a) => Date.parse(a.until) - now).filter((ms) => ms > 0);
    return Math.min(every, ...ends.map((ms) => ms + 400));
  };
  let wait = every;

  async function ask() {
    const headers = etag ? { "If-None-Match": etag } : {};
    const answer = await fetch(url, { headers, cache: "no-store", signal: AbortSignal.timeout(10_000) });
    if (answer.status !== 304) {
      if (!answer.ok) throw new Error(`board: ${answer.status}`);
      const board = await answer.json();
      etag = answer.headers.get("ETag") ?? "";
      skew = (Date.parse(answer.headers.get("Date")) || Date.now()) - Date.now();
      wait = pause(board);
      onBoard(board);
    } else {
      wait = every;
    }
  }

  async function turn() {
    try {
      await ask();
      failures = 0;
      onState("live");
      later(wait);
    } catch {
      failures++;
      onState(navigator.onLine === false ? "offline" : "reconnecting");
      later(Math.min(1000 * 2 ** failures, 30_000) * (0.5 + Math.random()));
    } finally {
      asking = null;
    }
  }

  function refresh() {
    clearTimeout(timer);
    return asking ??= turn();
  }

  document.addEventListener("visibilitychange", () => document.hidden ? clearTimeout(timer) : refresh());
  addEventListener("online", refresh);
  addEventListener("offline", () => onState("offline"));
  addEventListener("pageshow", (event) => { if (event.persisted) refresh(); });
  refresh();
  return refresh;
}
