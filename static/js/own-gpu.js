// Which GPU the browser reports, and which devices of the list that may be. Nothing is chosen: the visitor does.
const VENDORS = new Set(["nvidia", "amd", "intel", "apple"]);

// WebGL names the renderer, WebGPU sometimes the device; a browser may hide both.
export async function reported() {
  const names = [];
  const gl = document.createElement("canvas").getContext("webgl");
  if (gl) {
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    names.push(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
    gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
  const adapter = await navigator.gpu?.requestAdapter().catch(() => null);
  names.push(adapter?.info?.description, adapter?.info?.device);
  return names.filter(Boolean).find((name) => !/swiftshader|llvmpipe|softpipe|basic render/i.test(name)) ?? "";
}

const tokens = (name) => name.toLowerCase().replace(/\((r|tm|c)\)/g, " ").split(/[^a-z0-9+]+/).filter(Boolean);

// A device's own words: without maker, memory and what stands in brackets. "Apple M2 Max (38-core GPU) 96 GB" is m2 max.
const ownWords = (name) => tokens(name.replace(/\([^)]*\)/g, " ").replace(/\b\d+ GB\b/g, " ")).filter((word) => !VENDORS.has(word));

const holds = (all, some) => all.some((_, at) => some.every((word, offset) => all[at + offset] === word));

// The part of a renderer's string that people know: ANGLE (NVIDIA, NVIDIA GeForce RTX 3090 (0x2204) Direct3D11 …, D3D11)
export function shortName(renderer) {
  const inside = /^ANGLE \([^,]*, (.*), [^,]*\)$/.exec(renderer)?.[1] ?? renderer;
  return inside.replace(/^ANGLE Metal Renderer: /, "").replace(/\s*(\(0x[0-9a-f]+\)|Direct3D|vs_|\/PCIe|\((radeonsi|DG2)).*$/i, "").trim();
}

// Entries whose words all stand in what is reported, side by side; of several only those with the most words.
export function candidates(renderer, entries) {
  const said = tokens(renderer);
  const found = entries.map((entry) => [ownWords(entry.name), entry]).filter(([own]) => own.some((word) => /\d/.test(word)) && holds(said, own));
  const most = Math.max(0, ...found.map(([own]) => own.length));
  return found.filter(([own]) => own.length === most).map(([, entry]) => entry);
}
