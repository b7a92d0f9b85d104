// Verdicts for the names of a list: asked for when it opens, while it can be used already; remembered for the question.
import { questionNow } from "./fields.js";
import { coded } from "./own-hardware.js";

let shownFor = "";
let shown = null;
let waiting = new AbortController();

// How the verdicts of a list read: of(value) is {code, words, place}, place 0 to 3 from what fits to what does not.
function readable({ label, question, words, of, yours }) {
  const verdict = ([code, text, place]) => ({ code, words: text, place });
  return {
    label,
    question,
    of: (value) => (Object.hasOwn(yours, value) ? verdict(yours[value]) : Object.hasOwn(of, value) ? verdict(words[of[value]]) : null),
  };
}

export function asked(field) {
  const own = field === "gpu" && coded() ? `&${new URLSearchParams({ yours: coded() })}` : "";
  return `/picker/${field}/?${questionNow()}${own}`;
}

// What is known for this question already; null while it has to be asked for.
export const known = (field) => (asked(field) === shownFor ? shown : null);

export async function load(field) {
  waiting.abort();
  waiting = new AbortController();
  const address = asked(field);
  const response = await fetch(address, { signal: waiting.signal });
  if (!response.ok) throw new Error(`${response.status}`);
  shown = readable(await response.json());
  shownFor = address;
  return shown;
}

export const stop = () => waiting.abort();
