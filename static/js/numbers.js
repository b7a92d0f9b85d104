// Numbers as people write them, read as the server reads them (8192, 8,192, 8k, 128K, 1M), and steps on a log scale.
const SUFFIXES = { k: 1024, m: 1024 ** 2, ki: 1024, mi: 1024 ** 2 };

export function parse(text) {
  const bare = text.trim().toLowerCase().replace(/[,_\s]/g, "");
  const match = bare.match(/^(\d+(?:\.\d*)?|\.\d+)(ki|mi|k|m)?$/);
  return match ? Number(match[1]) * (SUFFIXES[match[2]] ?? 1) : NaN;
}

export const write = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 0 });

// Two significant digits, but powers of two stay themselves: 16,384 is a better stop than 16,000.
export function rounded(value) {
  if (value < 100) return Math.max(1, Math.round(value));
  const power = 2 ** Math.round(Math.log2(value));
  if (Math.abs(power - value) / value < 0.01) return power;
  const step = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.round(value / step) * step;
}

export function scale(low, high) {
  const octaves = Math.log2(high / low);
  return {
    at: (value) => Math.min(1000, Math.max(0, (1000 * Math.log2(value / low)) / octaves)),
    value: (at) => low * 2 ** ((at / 1000) * octaves),
    octave: 1000 / octaves,
  };
}
