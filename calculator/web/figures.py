"""Numbers as people read them: 58.3 GiB, 1,866, 573K, 57.6–59.4.

Three significant digits, whole from 100 on, thousands separators, a no-break space before the unit, U+2212 as minus, an
en dash without spaces in ranges. English and Chinese write numbers alike, so there is one set of rules.
"""

import math
from functools import lru_cache

GIB = 2**30
GB = 10**9
NO_BREAK = "\u00a0"
MINUS = "\u2212"
EN_DASH = "\u2013"
MISSING = "—"

_BYTES_IN = {"gib": GIB, "gb": GB}
_NAMES = {"gib": "GiB", "gb": "GB"}
_MOST_DECIMALS = 3
_NO_DECIMALS = 100
_IN_FULL_BELOW = 10_000  # tokens below stand with every digit
_THOUSANDS = ((1024**2, 10**6, "M"), (1024, 10**3, "K"))
_TWO_DIGITS_BELOW = 10
_ROUNDED_FROM = 1000
_SECONDS_FROM_MS = 1000
_OPERATIONS = ((10**15, "P"), (10**12, "T"), (10**9, "G"))
_PARAMETER_STEPS = ((10**12, "T"), (10**9, "B"), (10**6, "M"))


def decimals_of(value: float, digits: int = 3) -> int:
    """Decimals that show `digits` significant digits of the value: 2 for 1.06, 1 for 58.3, 0 from 100 on, at most 3."""
    size = abs(value)
    if size >= _NO_DECIMALS or not size or not math.isfinite(size):
        return 0
    rounded = float(f"{size:.{digits - 1}e}")  # 99.96 is shown as 100
    return min(max(digits - 1 - math.floor(math.log10(rounded)), 0), _MOST_DECIMALS)


_WRITTEN = tuple(f"{{:,.{places}f}}".format for places in range(12))


@lru_cache(maxsize=8192)
def number(value: float, decimals: int | None = None) -> str:
    """A number with separators and a true minus; `decimals` None: as many as three significant digits need."""
    if not math.isfinite(value):
        return MISSING
    text = _WRITTEN[decimals_of(value) if decimals is None else decimals](abs(value))
    return f"{MINUS}{text}" if value < 0 and text.strip("0,.") else text


def whole(value: float) -> str:
    """A count in full: 1,048,576."""
    return number(value, 0)


def plain(value: float) -> str:
    """A factor as it is, with up to four decimals and none that say nothing: 2, 1.0625, 0.5."""
    text = number(value, 4)
    return text.rstrip("0").rstrip(".") if "." in text else text


def unit_name(units: str) -> str:
    """`GiB` or `GB`."""
    return _NAMES[units]


def in_units(size_bytes: float, units: str) -> float:
    """Bytes as GiB or GB [1]."""
    return size_bytes / _BYTES_IN[units]


@lru_cache(maxsize=8192)
def bare_size(size_bytes: float, units: str, decimals: int | None = None) -> str:
    """Bytes in GiB or GB without the unit's name. What is there is never written as 0."""
    value = in_units(size_bytes, units)
    text = number(value, decimals)
    if value > 0 and text[0] == "0" and not text.strip("0."):
        places = len(text.partition(".")[2])
        return f"<{NO_BREAK}{number(10.0**-places, places)}"
    return text


def size(size_bytes: float, units: str, decimals: int | None = None) -> str:
    """Bytes with their unit: 58.3 GiB."""
    return f"{bare_size(size_bytes, units, decimals)}{NO_BREAK}{_NAMES[units]}"


def other_units(units: str) -> str:
    """The unit that the visitor has not chosen."""
    return "gb" if units == "gib" else "gib"


def exact_bytes(size_bytes: float) -> str:
    """Every byte: 226,492,416 B."""
    return f"{whole(size_bytes)}{NO_BREAK}B"


def column_decimals(largest: float) -> int:
    """Decimals that a column of a table shares: two, fewer beside thousands."""
    if largest >= 10_000:
        return 0
    return 1 if largest >= 1_000 else 2


def cell_decimals(value: float, column: int) -> int:
    """The column's decimals, one more for what would show a single digit: 0.054 beside 49.69."""
    return column + 1 if column == 2 and 0 < abs(value) < 0.1 else column


@lru_cache(maxsize=4096)
def size_range(low_bytes: float, high_bytes: float, units: str, decimals: int | None = None) -> str:
    """The two ends of an interval with equal decimals: 57.6–59.4; more of them where the ends would read alike."""
    low, high = in_units(low_bytes, units), in_units(high_bytes, units)
    places = decimals_of(high) if decimals is None else decimals
    while number(low, places) == number(high, places) and places < _MOST_DECIMALS:
        places += 1
    return f"{number(low, places)}{EN_DASH}{number(high, places)}"


def tokens(value: int, *, down: bool = False) -> str:
    """Tokens in a figure or at a tick: 8,192, 573K, 1M. K is 1,024 for powers of two, else 1,000.

    down: a maximum, which is never rounded up.
    """
    if value < _IN_FULL_BELOW:
        return whole(value)
    power_of_two = value & (value - 1) == 0
    for binary, decimal, letter in _THOUSANDS:
        step = binary if power_of_two else decimal
        if value >= step:
            return f"{_three_digits(value / step, down=down)}{letter}"
    return whole(value)


def _three_digits(value: float, *, down: bool) -> str:
    places = decimals_of(value)
    if down:
        value = math.floor(value * 10**places) / 10**places
    text = number(value, places)
    return text.rstrip("0").rstrip(".") if "." in text else text


def parameters(value: int) -> str:
    """A count of weights: 2.78T, 106B, 8.03B, 494M."""
    for step, letter in _PARAMETER_STEPS:
        if value >= step:
            return f"{_three_digits(value / step, down=False)}{letter}"
    return whole(value)


def percent(share: float) -> str:
    """A share as English and Chinese write it: 92%, 83.5%."""
    return f"{_three_digits(share * 100, down=False)}%"


def bandwidth(bytes_per_s: float) -> str:
    """A memory or link bandwidth in decimal GB/s, as data sheets print it: 3,350 GB/s."""
    return f"{number(bytes_per_s / GB)}{NO_BREAK}GB/s"


def rate(value: float, decimals: int | None = None) -> str:
    """Tokens per second, joules and times: three significant digits, two below ten: 7,110, 124, 15.7, 9.4."""
    if decimals is None:
        decimals = decimals_of(value, 2 if abs(value) < _TWO_DIGITS_BELOW else 3)
    return number(_three_significant(value), decimals)


def _three_significant(value: float) -> float:
    """Thousands without digits that no estimate has: 7,111 is 7,110."""
    return float(f"{value:.3g}") if abs(value) >= _ROUNDED_FROM and math.isfinite(value) else value


def rate_range(low: float, high: float) -> str:
    """The two ends of an interval of a rate or a time with equal decimals: 103–144, 14.2–17.2."""
    size = min(abs(low), abs(high)) or max(abs(low), abs(high))
    places = min(
        decimals_of(size, 2 if size < _TWO_DIGITS_BELOW else 3), decimals_of(max(abs(low), abs(high)))
    )
    ends = (number(_three_significant(end), places) for end in (low, high))
    return EN_DASH.join(ends)


def duration_parts(milliseconds: float) -> tuple[float, str]:
    """A time in the unit that suits: 8.0 ms, 1.2 s, 38 s."""
    return (milliseconds, "ms") if milliseconds < _SECONDS_FROM_MS else (milliseconds / 1000, "s")


def duration(milliseconds: float) -> str:
    """A time with its unit: 8.0 ms, 1.2 s."""
    value, unit = duration_parts(milliseconds)
    return f"{rate(value)}{NO_BREAK}{unit}"


def duration_range(low_ms: float, high_ms: float, value_ms: float) -> str:
    """The ends of a time's interval in the unit that its value stands in."""
    factor = 1.0 if duration_parts(value_ms)[1] == "ms" else 1e-3
    return rate_range(low_ms * factor, high_ms * factor)


def operations(value: float) -> str:
    """Floating-point operations: 61.6 TFLOP, 63.3 PFLOP."""
    step, letter = next(((step, letter) for step, letter in _OPERATIONS if value >= step), _OPERATIONS[-1])
    return f"{number(value / step)}{NO_BREAK}{letter}FLOP"


def spelled_bytes(size_bytes: float) -> str:
    """Bytes of a cache entry or workspace in the unit that suits: 27,648 B, 85.0 MiB, 1.90 GiB."""
    if size_bytes < 1024**2:
        return exact_bytes(size_bytes)
    if size_bytes < GIB:
        return f"{number(size_bytes / 1024**2)}{NO_BREAK}MiB"
    return size(size_bytes, "gib")


_CENTS_BELOW = 100
_SMALLEST_PLACES = 9


def usd(value: float) -> str:
    """Dollars: $1,360, $84.44, two decimals below 100; three significant digits below 10 cents: $0.0468."""
    size = abs(value)
    if not math.isfinite(size):
        return MISSING
    if not size:
        return "$0"
    places = 0 if size >= _CENTS_BELOW - 0.005 else 2
    if size < 0.0995:
        places = min(_SMALLEST_PLACES, 2 - math.floor(math.log10(float(f"{size:.2e}"))))
    least = 10.0**-_SMALLEST_PLACES
    if size < least:
        return f"<{NO_BREAK}${least:.{_SMALLEST_PLACES}f}"
    return f"{MINUS if value < 0 else ''}${number(size, places)}"


def many_tokens(value: float) -> str:
    """Tokens of a month, in steps of a thousand: 1.22B, 13.6B, 910K."""
    for step, letter in ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K")):
        if value >= step:
            return f"{number(value / step)}{letter}"
    return whole(value)
