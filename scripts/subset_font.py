"""Cut the Archivo variable font down to what the interface uses, into static/css/archivo-ui.woff2.

Run it only to change the cut; the result is committed. The source is the npm package @fontsource-variable/archivo
5.3.0 (licence OFL-1.1, no reserved font name), unpacked anywhere:

    npm pack @fontsource-variable/archivo@5.3.0 && tar xf fontsource-variable-archivo-5.3.0.tgz
    .venv/bin/python scripts/subset_font.py package/files/archivo-latin-standard-normal.woff2

Then put the new checksum into static/vendor/VENDOR.json.
"""

import sys
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

ASCII = "".join(map(chr, range(0x20, 0x7F)))
# Wanted by the interface. Those that Archivo lacks (→ ← ≤ ≥ ≈ ✓ and the narrow space) fall back to the next font.
SIGNS = "–—−×·…“”‘’°±→←↑↓≤≥≈✓\u00a0\u2009\u202f"
OUTPUT = Path(__file__).resolve().parent.parent / "static" / "css" / "archivo-ui.woff2"


def main(source: str) -> None:
    font = TTFont(source)
    instantiateVariableFont(font, {"wght": (400, 650), "wdth": (86, 100)}, inplace=True)
    options = Options(layout_features=["kern", "tnum"], flavor="woff2", hinting=False, desubroutinize=True)
    cut = Subsetter(options)
    cut.populate(text=ASCII + SIGNS)
    cut.subset(font)
    font.flavor = "woff2"
    font.save(OUTPUT)
    print(f"{OUTPUT.name}: {OUTPUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
