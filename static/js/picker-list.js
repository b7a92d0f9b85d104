// What the picker's list shows: yours, recent, then the groups of the catalogue; at most fifty entries.
import { pieces, rank, typedWords } from "./picker-search.js";

const MOST = 50;
const WORKS = 1; // the last place of what runs (picker-verdicts.js)
const NO = 3;

const placeOf = (e, verdicts) => verdicts?.of(e.value)?.place ?? NO;

// What belongs to a value of the rail; a value of its own is the name of a group.
function inRail({ rail, yours, recent, verdicts, reported }) {
  const kinds = {
    "": () => true,
    yours: (e) => yours.includes(e.value),
    recent: (e) => recent.includes(e.value),
    fits: (e) => placeOf(e, verdicts) <= WORKS,
    reported: (e) => reported?.values.includes(e.value),
  };
  return kinds[rail] ?? ((e) => e.group === rail);
}

export function chosen(entries, { text, ...state }) {
  const { rail, yours, recent, words, verdicts } = state;
  const typed = typedWords(text);
  const ranked = entries
    .filter(inRail(state))
    .map((e) => [rank(e, typed), e])
    .filter(([found]) => !Number.isNaN(found))
    .sort(([, a], [, b]) => placeOf(a, verdicts) - placeOf(b, verdicts)); // stable: else the catalogue's order
  const exact = ranked.some(([found]) => found < 3);
  const heading = (found, e) => {
    if (typed.length && found >= 2) return words.other;
    if (yours.includes(e.value)) return words.yours;
    return !typed.length && !rail && recent.includes(e.value) ? words.recent : e.group;
  };
  const sections = new Map([[words.yours, []], [words.recent, []]]);
  const late = []; // found under another name: after the others
  for (const [found, e] of ranked) {
    if (exact && found === 3) continue;
    const head = heading(found, e);
    if (head === words.other) late.push(e);
    else sections.set(head, [...(sections.get(head) ?? []), e]);
  }
  if (late.length) sections.set(words.other, late);
  const filled = [...sections].filter(([, list]) => list.length);
  const total = filled.reduce((sum, [, list]) => sum + list.length, 0);
  let left = MOST;
  const shown = filled.map(([head, list]) => [head, list.slice(0, Math.max(0, (left -= list.length) + list.length))]);
  return { sections: shown.filter(([, list]) => list.length), more: Math.max(0, total - MOST), total, typed };
}

function element(tag, className, text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

// The verdict for the present question, with its icon.
function chip({ code, words }, chips) {
  const made = chips.content.querySelector(`.is-${code}`).cloneNode(true);
  made.append(words);
  return made;
}

// Chips for a list that stands already: somebody may be about to choose, so no row moves.
export function addChips(list, { verdicts, chips }) {
  for (const option of list.querySelectorAll("[role=option]")) {
    const verdict = verdicts.of(option.dataset.value);
    if (verdict) option.querySelector(".picker-verdict").replaceChildren(chip(verdict, chips));
  }
}

function row(e, { typed, value, yours, star, verdicts, chips }, number) {
  const option = element("div", "picker-option");
  option.id = `picker-option-${number}`;
  option.dataset.value = e.value;
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", e.value === value);
  const mark = element("span", "star");
  mark.classList.toggle("is-yours", yours.includes(e.value));
  mark.append(star.content.cloneNode(true));
  const name = element("span", "picker-name");
  for (const [text, hit] of pieces(e.own?.name || e.name, typed)) name.append(hit ? element("u", "", text) : text);
  const columns = element("span", "picker-columns");
  columns.append(...(e.own?.facts ? [e.own.facts] : e.columns).map((fact) => element("span", "", fact)));
  const verdict = verdicts?.of(e.value);
  const place = element("span", "picker-verdict"); // there before the verdicts are, so that nothing moves
  if (verdict) place.append(chip(verdict, chips));
  columns.append(place);
  option.append(mark, name, columns);
  return option;
}

export function draw(list, found, state) {
  let number = 0;
  const blocks = found.sections.map(([head, entries], at) => {
    const block = element("div", "picker-section");
    const heading = element("div", "picker-heading", head);
    heading.id = `picker-heading-${at}`;
    block.setAttribute("role", "group");
    block.setAttribute("aria-labelledby", heading.id);
    block.append(heading, ...entries.map((e) => row(e, { ...state, typed: found.typed }, (number += 1))));
    return block;
  });
  const { words } = state;
  const note = found.total === 0 ? words.none : found.more ? words.more.replace("{n}", found.more) : "";
  list.replaceChildren(...blocks, ...(note ? [element("p", "picker-heading", note)] : []));
}

export function drawRail(rail, entries, { yours, recent, rail: pressed, words, verdicts, reported }) {
  const groups = [...new Set(entries.map((e) => e.group))];
  const count = (values) => entries.filter((e) => values.includes(e.value)).length;
  const buttons = [["", words.all, entries.length], ["yours", words.yours, count(yours)], ["recent", words.recent, count(recent)]];
  if (verdicts) buttons.push(["fits", verdicts.label, entries.filter((e) => placeOf(e, verdicts) <= WORKS).length]);
  if (reported) buttons.push(["reported", words.reported, count(reported.values)]);
  for (const group of groups) buttons.push([group, group, entries.filter((e) => e.group === group).length]);
  rail.replaceChildren(
    ...buttons.map(([value, name, number]) => {
      const button = element("button", "");
      button.type = "button";
      button.dataset.rail = value;
      button.setAttribute("aria-pressed", value === pressed);
      button.append(element("span", "", name), element("span", "", number));
      return button;
    }),
  );
}
