"""From a slider's input to the painted answer with its chart, in a headless Chromium against a real server.

    python -m benchmarks.paint

The frame in which the new answer is seen comes after the swap: two animation frames later it is on the screen.
"""

from __future__ import annotations

import os
import statistics

from benchmarks.questions import QUESTIONS
from benchmarks.server import served

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
MOVES = 80
GOAL_MS = 50.0

MOVE = """async ({ name, moves }) => {
  const slider = document.getElementById(`${name}-range`);
  const field = document.getElementById(name);
  const form = document.getElementById("question");
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const took = [];
  for (let move = 0; move < moves; move += 1) {
    const swapped = new Promise((done) => form.addEventListener("htmx:after:swap", done, { once: true }));
    const before = field.value;
    slider.value = 150 + 8 * move;
    await frame();
    const begun = performance.now();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    if (field.value === before) continue; // the steps of the slider are wider than this move
    await swapped;
    await frame();
    await frame();
    took.push(performance.now() - begun);
    await new Promise((done) => setTimeout(done, 30));
  }
  return took;
}"""


def painted(port: int, query: dict[str, str]) -> list[float]:
    """Milliseconds from input to paint for each move of the context slider."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - needed here only

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 1600})
        page.goto(f"http://127.0.0.1:{port}/?" + "&".join(f"{name}={value}" for name, value in query.items()))
        page.wait_for_selector(".chart-plot.is-shown")
        found: list[float] = page.evaluate(MOVE, {"name": "ctx", "moves": MOVES})
        browser.close()
    return found[5:]


def main() -> None:
    with served() as port:
        for name, query in QUESTIONS.items():
            took = painted(port, query)
            p95 = statistics.quantiles(took, n=20)[-1]
            print(
                f"input to paint with chart, {name}: median {statistics.median(took):.0f} ms, p95 {p95:.0f} ms (goal {GOAL_MS:.0f})"
            )


if __name__ == "__main__":
    main()
