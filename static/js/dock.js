// On phones the answer follows at the bottom of the screen once the big bar has left it.
const dock = document.getElementById("dock");

const watcher = new IntersectionObserver(([entry]) => (dock.hidden = entry.isIntersecting));

function watch() {
  const seen = document.getElementById("bar") ?? document.getElementById("verdict");
  if (seen === watch.seen) return;
  watcher.disconnect();
  watch.seen = seen;
  if (seen) watcher.observe(seen);
}

watch();
document.addEventListener("htmx:after:swap", watch);
