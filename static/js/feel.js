// Feel a speed: text appears as fast as the estimate says, after the wait for its first token.
import { say } from "./status.js";

const still = matchMedia("(prefers-reduced-motion: reduce)");
const get = (id) => document.getElementById(id);
const TOKEN = /\s*[\p{L}\p{N}’]{1,4}|\s*[^\s\p{L}\p{N}]/gu; // four letters a token, as tokenizers average on English

let run = null; // { tokens, first, rate, shown, before, since, frame }

// Slow, middle and fast: seconds to the first token, and tokens per second.
function figures() {
  const { ttft, rate } = get("speed-table").dataset;
  return { ttft: ttft.split(" ").map(Number), rate: rate.split(" ").map(Number) };
}

const digits = (value) => (value < 10 ? 2 : 3);
const written = (value) => value.toLocaleString("en-US", { minimumSignificantDigits: digits(value), maximumSignificantDigits: digits(value) });
const chosen = () => Number(document.querySelector("[name=feel-rate]:checked").value);
const elapsed = () => run.before + (run.since === null ? 0 : (performance.now() - run.since) / 1000);
const counted = (tokens) => `${tokens} ${get("feel-run").dataset.tokens}`;

function label(name) {
  const { rate } = figures();
  const words = get("feel-start").dataset[name];
  get("feel-start").classList.toggle("is-running", name === "pause");
  get("feel-label").textContent = name === "feel" ? `${words} ${written(rate[chosen()])} tok/s` : words;
}

function dress() {
  if (!get("feel")) return;
  figures().rate.forEach((rate, at) => (get(`feel-${at}`).textContent = written(rate)));
  if (!run) label("feel");
}

function clock(seconds) {
  const words = get("feel-run").dataset;
  const state = run.shown ? counted(run.shown) : words.waiting;
  get("feel-clock").textContent = `${seconds.toFixed(1)} s · ${state}`;
}

function summary() {
  const words = get("feel-run").dataset;
  const last = run.first + (run.tokens.length - 1) / run.rate;
  return `${counted(run.tokens.length)}: ${words.first} ${written(run.first)} s, ${words.done.toLowerCase()} ${written(last)} s`;
}

function finish() {
  get("feel-text").textContent = run.tokens.join("");
  get("feel-clock").textContent = summary();
  say(summary());
  run.done = true;
  run.since = null;
  label("again");
}

function step() {
  if (!run || run.since === null || !get("feel-text")) return;
  const seconds = elapsed();
  const count = Math.max(0, Math.min(run.tokens.length, Math.floor((seconds - run.first) * run.rate) + 1));
  const due = seconds < run.first ? 0 : count;
  if (due !== run.shown) {
    // Only what is new is added: the text before it stays as it is, for selections and for screen readers.
    get("feel-text").append(run.tokens.slice(run.shown, due).join(""));
    run.shown = due;
    get("feel-text").scrollTop = get("feel-text").scrollHeight;
  }
  clock(seconds);
  if (run.shown >= run.tokens.length) finish();
  else run.frame = requestAnimationFrame(step);
}

function start() {
  const { ttft, rate } = figures();
  const tokens = get("feel-source").textContent.match(TOKEN);
  run = { tokens, first: ttft[chosen()], rate: rate[chosen()], shown: 0, before: 0, since: performance.now(), done: false };
  get("feel-run").hidden = false;
  get("feel-text").textContent = "";
  if (still.matches) {
    finish();
    return;
  }
  label("pause");
  step();
}

function pause() {
  run.before = elapsed();
  run.since = null;
  cancelAnimationFrame(run.frame);
  label("on");
  say(`${get("feel-run").dataset.paused}, ${counted(run.shown)}`);
}

function resume() {
  run.since = performance.now();
  label("pause");
  step();
}

function stop() {
  if (run) cancelAnimationFrame(run.frame);
  run = null;
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("#feel-start")) return;
  if (!run || run.done) start();
  else if (run.since === null) resume();
  else pause();
});

// Another speed begins anew; while nothing runs it only names itself.
document.addEventListener("change", ({ target }) => {
  if (target.name !== "feel-rate") return;
  const running = run && !run.done;
  stop();
  if (running) start();
  else label("feel");
});

dress();
document.addEventListener("htmx:after:swap", dress);
document.addEventListener("stowage:section", ({ detail }) => {
  if (detail !== "speed-side") return;
  stop(); // the section has come anew, with the figures of another question
  dress();
});
