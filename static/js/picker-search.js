// Finding a name in a list: each word that was typed must be found somewhere; one wrong letter is forgiven.

// At most one letter added, missing or other, at the beginning of a word.
function nearly(typed, word) {
  if (typed.length < 4) return false;
  for (let length = typed.length - 1; length <= typed.length + 1; length += 1) {
    if (length <= word.length && oneOff(typed, word.slice(0, length))) return true;
  }
  return false;
}

function oneOff(a, b) {
  let from = 0;
  while (from < a.length && a[from] === b[from]) from += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - from && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return Math.max(a.length, b.length) - from - end <= 1;
}

const wordsOf = (text) => text.toLowerCase().split(/[\s/()·-]+/).filter(Boolean);

export function entry(option, group) {
  const { columns = "", words = "" } = option.dataset;
  const name = option.textContent.trim();
  const all = `${name} ${group} ${words} ${option.value}`.toLowerCase();
  return { value: option.value, name, group, columns: columns.split("|").filter(Boolean), lower: name.toLowerCase(), all, parts: wordsOf(all) };
}

// 0: the name begins so; 1: the name holds it; 2: found under another name; 3: nearly; NaN: not at all.
export function rank(found, typed) {
  let worst = found.lower.startsWith(typed.join(" ")) ? 0 : 1;
  for (const word of typed) {
    if (found.lower.includes(word)) continue;
    if (found.all.includes(word)) worst = Math.max(worst, 2);
    else if (found.parts.some((part) => nearly(word, part))) worst = 3;
    else return NaN;
  }
  return worst;
}

export const typedWords = (text) => text.toLowerCase().trim().split(/\s+/).filter(Boolean);

// The name in pieces, hits marked: [["NVIDIA ", false], ["H2", true], ["00", false]].
export function pieces(name, typed) {
  const lower = name.toLowerCase();
  const hit = new Array(name.length).fill(false);
  for (const word of typed) {
    for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1)) hit.fill(true, at, at + word.length);
  }
  const out = [];
  for (let at = 0; at < name.length; at += 1) {
    if (at && hit[at] === hit[at - 1]) out.at(-1)[0] += name[at];
    else out.push([name[at], hit[at]]);
  }
  return out;
}
