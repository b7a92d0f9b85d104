"""Cost per million tokens (formulas §9). PURE.

The served rate has the prompts inside: they are not charged a second time. What a request costs is divided
between prompt and answer by the device time that each takes.
"""

from __future__ import annotations

SECONDS_PER_HOUR = 3600.0
MILLION = 1e6


def usd_per_request(usd_per_hour: float, requests_per_s: float, utilisation: float) -> float:
    """What one request costs: P/3600/(λ·u) [USD].

    utilisation: busy share of the paid hours, 0 < u ≤ 1.

    >>> round(usd_per_request(2.50, 4.15216, 0.5), 8)
    0.0003345
    """
    return usd_per_hour / SECONDS_PER_HOUR / (requests_per_s * utilisation)


def blended_usd_per_million(request_usd: float, tokens: int) -> float:
    """All tokens of a request alike, in and out: c/(ISL + OSL)·10⁶ [USD per million tokens].

    Law: × tokens/s × 3600/10⁶ = P/u.

    >>> round(blended_usd_per_million(0.0003345, 2500), 4)
    0.1338
    """
    return request_usd / tokens * MILLION


def input_usd_per_million(request_usd: float, input_share: float, input_tokens: int) -> float:
    """The prompt's share of a request over its computed tokens: c·share/ISL·10⁶ [USD per million tokens].

    >>> round(input_usd_per_million(0.0003345, 0.27995, 2000), 4)
    0.0468
    """
    return request_usd * input_share / input_tokens * MILLION


def output_usd_per_million(request_usd: float, input_share: float, output_tokens: int) -> float:
    """The answer's share of a request over its tokens: c·(1 − share)/OSL·10⁶ [USD per million tokens].

    >>> round(output_usd_per_million(0.0003345, 0.27995, 500), 4)
    0.4817
    """
    return request_usd * (1.0 - input_share) / output_tokens * MILLION


def all_on_output_usd_per_million(
    usd_per_hour: float, output_tokens_per_s: float, utilisation: float
) -> float:
    """The whole cost over the generated tokens alone: P/3600/(R_s·u)·10⁶ [USD per million output tokens].

    To compare with pages that quote it; not to be added to a price of the input.

    >>> round(all_on_output_usd_per_million(2.50, 2000.0, 0.4), 3)
    0.868
    """
    return usd_per_hour / SECONDS_PER_HOUR / (output_tokens_per_s * utilisation) * MILLION
