// What is asked for when a reader comes near it, and again when the question has changed and rests.
const REST_MS = 150;
const NEAR = "200px";

// place: the element as it is now. address: where its inside is asked for now, or "" for nothing. take: puts it in.
// The caller tells by watch() that the page has changed, and by shows() what stands there already.
export function follow({ place, address, take }) {
  let shownFor = null; // the address that the inside belongs to
  let asking = null; // the address that is on its way
  let seen = false;
  let resting = 0;
  let watched = null;
  let waiting = new AbortController();

  async function load() {
    clearTimeout(resting);
    waiting.abort();
    waiting = new AbortController();
    const { signal } = waiting;
    const asked = address();
    if (!asked) return;
    asking = asked;
    let text = "";
    try {
      const response = await fetch(asked, { headers: { "HX-Request": "true" }, signal });
      if (!response.ok) throw new Error(`${response.status}`);
      text = await response.text();
    } finally {
      if (!signal.aborted) asking = null;
    }
    if (signal.aborted || !place()) return;
    shownFor = asked;
    take(text);
    document.dispatchEvent(new CustomEvent("stowage:section", { detail: place().id }));
    rest(); // the question may have moved on while this was on its way
  }

  function rest() {
    clearTimeout(resting);
    if (seen && address() && ![shownFor, asking].includes(address())) resting = setTimeout(() => load().catch(() => {}), REST_MS);
  }

  const near = new IntersectionObserver(
    (entries) => {
      seen = entries.at(-1).isIntersecting; // several may come at once, the newest last
      rest();
    },
    { rootMargin: NEAR },
  );

  function watch() {
    if (watched !== place()) {
      near.disconnect();
      if (watched) shownFor = asking = null;
      seen = false;
      watched = place();
      if (watched) near.observe(watched);
    }
    rest();
  }

  return { load, watch, shows: (now) => (shownFor = now) };
}
