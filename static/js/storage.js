// localStorage, which a browser may forbid: then nothing is remembered, and nothing breaks.
export function read(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(`stowage.${name}`)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function write(name, value) {
  try {
    localStorage.setItem(`stowage.${name}`, JSON.stringify(value));
  } catch {
    // remembered for this page only, by the caller
  }
}
