"""What robots, old links and slips put into a query string, raw: percent signs, control characters, other alphabets."""

from urllib.parse import quote, quote_plus

from hypothesis import strategies as st

from calculator.scenario import PARAMETERS

VALUES = (
    *(
        "-1",
        "0",
        "-0",
        "+5",
        "1e400",
        "-1e400",
        "nan",
        "inf",
        "-Infinity",
        "9" * 400,
        "1" + "0" * 5000,
        "0.1",
        "1.5",
    ),
    *("½", "٣", "１２８", "²", "0x10", "1_000", "1,000", "8k", "128K", "1M", "1kk", "k", "1e3k", "∞", "−5"),
    *(
        "\x00",
        "a\x00b",
        "\ud800",
        "\ufffe",
        "\u202e",
        "\u200b",
        "🦙",
        "ﷺ",
        "İ",
        "ß",
        " ",
        "\t8192\n",
        "\r\n\r\nX: y",
    ),
    *(
        "<script>alert(1)</script>",
        '"><b>',
        "'",
        "{{7*7}}",
        "${x}",
        "%s%n",
        "{0}",
        "{given}",
        "../../etc/passwd",
    ),
    *(
        "[" * 500,
        "[[[]]]",
        '{"a":' * 200,
        "gpu[]",
        "a:b:c",
        ":",
        ",",
        ",,,:,",
        "auto",
        "None",
        "null",
        "true",
        "custom",
    ),
)
"""Values that broke something somewhere, here or elsewhere."""

LISTS = (
    "rtx-4090," * 300,
    "rtx-3090:300,rtx-3060-12:1",
    "rtx-3090:2,rtx-3060-12:99999999999999999999999",
    "rtx-3090:-2,rtx-3060-12:1",
    "rtx-3090:0,rtx-3060-12:½",
    "rtx-3090:2:3,rtx-3060-12",
    "hgx-h100-8:40,rtx-4090:1",
    "nothing:2,rtx-4090:1",
    ",".join(f"nothing-{number}" for number in range(400)),
    "rtx-4090:1," * 2000,
)
"""Lists of cards, within and beyond what one question may name."""

IDS = {
    "model": (
        "kimi-k3",
        "kimi-k3.1-pro",
        "gpt-oss-120b",
        "deepseek-v4.1-flash",
        "llama-3.3-70b-instruct",
        "bge-m3",
    ),
    "gpu": (*LISTS, "h100-sxm", "hgx-h100-8", "mac-m4-max-128", "gb200", "rtx-3090:2,rtx-3060-12:1"),
    "quant": ("native", "q4_k_m", "iq2_xxs", "nvfp4", "mlx-4bit", "exl3-4.0bpw"),
    "seqs": ("engine", "64", "0", "1e400"),
    "engine_version": ("0.33.0", "b11434", "v" + "9" * 5000, "1." * 90, "latest"),
}
NAMES = [parameter.name for parameter in PARAMETERS]

raw = st.text(max_size=20) | st.binary(max_size=12).map(lambda junk: junk.decode("latin-1"))


def written(text: str) -> str:
    """As it stands in a query: surrogates as the bytes that some clients send for them."""
    return quote_plus(text.encode("utf-8", "surrogatepass"))


def _value(name: str) -> st.SearchStrategy[str]:
    known = next(parameter for parameter in PARAMETERS if parameter.name == name)
    good = st.sampled_from(IDS.get(name) or known.choices or ("1", "8", "4096", "1e9", "0.5"))
    return good | good | st.sampled_from(VALUES) | raw


_pairs = st.sampled_from(NAMES).flatmap(lambda name: st.tuples(st.just(name), _value(name)))
_odd_pairs = st.tuples(
    raw | st.sampled_from(["v", "CTX", "gpu[]", "model[0]", "", "csrfmiddlewaretoken"]),
    st.sampled_from(VALUES) | raw,
)

_kept = st.lists(_pairs | _pairs | _pairs | _odd_pairs, max_size=12).map(
    lambda pairs: "&".join(f"{written(name)}={written(value)}" for name, value in pairs)
)
_torn = st.text(st.sampled_from("%&=;+?#[]0aF ctx=model"), max_size=40).map(
    lambda text: quote(text, safe="%&=;+?[]")
)

QUERIES = _kept | _kept | _kept | _torn
"""Raw query strings: mostly names of ours with values of all kinds, repeated ones too; some that are no pairs at all."""

LONG = (
    "model=" + "a" * 100_000,
    "gpu=" + "rtx-4090," * 11_000,
    "ctx=" + "9" * 100_000,
    "&".join(f"ctx={number}" for number in range(4_000)),
    "&".join(f"x{number}={number}" for number in range(4_000)),
    "[" * 100_000,
    "%00" * 30_000,
    "engine_version=" + "1." * 50_000,
    "seqs=" + "1" * 100_000,
)
"""100 kB each: more than the server in front lets through."""
