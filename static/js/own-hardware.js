// The visitor's own hardware, kept in this browser alone. The first of the list is the one that pages mean by "yours".
import { read, write } from "./storage.js";

const NAME = "yours.gpu";
const MOST = 12;
const FIELDS = ["gpu", "n", "ram", "os"];
const PLAN = ["split", "tp", "pp", "ep", "adp", "dcp", "dp", "ngl", "ncmoe", "backend", "price", "rent"]; // of one machine alone

const text = (value) => (["string", "number"].includes(typeof value) ? String(value) : "");

// What an older page has kept, or somebody has written there by hand, is read as far as it makes sense.
function sound(kept) {
  const one = typeof kept === "string" ? { gpu: kept } : kept;
  const machine = Object.fromEntries([...FIELDS, "name", "facts"].map((field) => [field, text(one?.[field])]));
  return machine.gpu && !/[|;]/.test(FIELDS.map((field) => machine[field]).join("")) ? { ...machine, n: machine.n || "1" } : null;
}

export function yours() {
  const kept = read(NAME, []);
  return (Array.isArray(kept) ? kept : []).map(sound).filter(Boolean);
}

function store(machines) {
  write(NAME, machines.slice(0, MOST));
  document.dispatchEvent(new Event("stowage:yours"));
}

export const kept = (gpu) => yours().find((one) => one.gpu === gpu);

export const forget = (gpu) => store(yours().filter((one) => one.gpu !== gpu));

export const keepFirst = (machine) => store([machine, ...yours().filter((one) => one.gpu !== machine.gpu)]);

export const keepLast = (machine) => store([...yours().filter((one) => one.gpu !== machine.gpu), machine]);

// As a request and a link name them: rtx-3090|2|64|linux;mac-m4-max-128|1
export const coded = (machines = yours()) => machines.map((one) => FIELDS.map((field) => one[field]).join("|").replace(/\|+$/, "")).join(";");

export function decoded(code) {
  return code.split(";").map((item) => {
    const [gpu, n = "", ram = "", os = ""] = item.split("|");
    return sound({ gpu, n: /^\d{1,4}$/.test(n) ? n : "1", ram: /^\d{1,6}(\.\d+)?$/.test(ram) ? ram : "", os: /^[a-z0-9]+$/.test(os) ? os : "" });
  }).filter(Boolean);
}

// The same question on one of them: without what was chosen for another machine.
export function questionOn(query, machine) {
  const asked = new URLSearchParams(query);
  for (const name of [...FIELDS, ...PLAN, "show"]) asked.delete(name);
  const own = new URLSearchParams();
  for (const field of FIELDS) if (machine[field] && !(field === "n" && machine.n === "1")) own.set(field, machine[field]);
  const version = asked.get("v");
  asked.delete("v");
  const rest = asked.toString();
  return `/?${[rest, own.toString(), `v=${version ?? 1}`].filter(Boolean).join("&")}`;
}

// Whether the question on this page stands on it.
export const isAsked = ({ gpu, n }) =>
  document.getElementById("gpu")?.value === gpu && (document.getElementById("n").value.replace(/\D/g, "") || "1") === n;

export const inWords = ({ name, gpu, facts }) => [name || gpu, facts].filter(Boolean).join(", ");
