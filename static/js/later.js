// Sections that follow the answer: asked for when it rests, so that a moving thumb does not wait for them.
const REST_MS = 120;
let resting = 0;
let waiting = new AbortController();

async function load(section, signal) {
  const address = section.dataset.later;
  const response = await fetch(address, { headers: { "HX-Request": "true" }, signal });
  const text = response.ok ? (await response.text()).trim() : "";
  if (signal.aborted || !section.isConnected) return; // another answer has come
  if (text) window.htmx.swap({ text, target: section, sourceElement: section, swap: "outerMorph" });
  else section.remove();
}

function follow() {
  clearTimeout(resting);
  waiting.abort();
  waiting = new AbortController();
  const { signal } = waiting;
  resting = setTimeout(() => {
    for (const section of document.querySelectorAll("[data-later]")) load(section, signal).catch(() => {});
  }, REST_MS);
}

document.getElementById("question").addEventListener("htmx:after:swap", follow);
