// What the picker's list shows: yours, recent, then the groups of the catalogue; at most fifty entries.
import { pieces, rank, typedWords } from "./picker-search.js";

const MOST = 50;

export function chosen(entries, { text, rail, yours, recent, words }) {
  const typed = typedWords(text);
  const inRail = { "": () => true, yours: (e) => yours.includes(e.value), recent: (e) => recent.includes(e.value) };
  const ranked = entries
    .filter(inRail[rail] ?? ((e) => e.group === rail))
    .map((e) => [rank(e, typed), e])
    .filter(([found]) => !Number.isNaN(found));
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

function row(e, { typed, value, yours, star }, number) {
  const option = element("div", "picker-option");
  option.id = `picker-option-${number}`;
  option.dataset.value = e.value;
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", e.value === value);
  const mark = element("span", "star");
  mark.classList.toggle("is-yours", yours.includes(e.value));
  mark.append(star.content.cloneNode(true));
  const name = element("span", "picker-name");
  for (const [text, hit] of pieces(e.name, typed)) name.append(hit ? element("u", "", text) : text);
  const columns = element("span", "picker-columns");
  columns.append(...e.columns.map((fact) => element("span", "", fact)));
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

export function drawRail(rail, entries, { yours, recent, rail: pressed, words }) {
  const groups = [...new Set(entries.map((e) => e.group))];
  const count = (values) => entries.filter((e) => values.includes(e.value)).length;
  const buttons = [["", words.all, entries.length], ["yours", words.yours, count(yours)], ["recent", words.recent, count(recent)]];
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
