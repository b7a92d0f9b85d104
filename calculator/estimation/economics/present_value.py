"""Interest, resale and break-even in closed form (formulas §9): numbers or arrays in, the same kind out.
PURE.

Payments come at the end of each month. Months may be fractions. A monthly rate is a twelfth of the yearly
one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

LONGEST_MONTHS = 600
"""A machine that has not paid for itself after fifty years never does."""

NO_CHANGE = 1e-12
"""Monthly interest, or change of a price, below is none: digits are lost before it matters."""

NO_RENT = 1e-6
"""A month's rent below is none [USD]."""


def monthly_rate(discount_per_year: float) -> float:
    """The discount of one month [1]."""
    return discount_per_year / 12.0


def payments_worth(rate: float, months: Any) -> Any:
    """Present value of 1 USD a month: (1 − (1 + r)^−m)/r, m without interest [USD].

    >>> round(float(payments_worth(0.08 / 12, 36.0)), 4)
    31.9118
    """
    if abs(rate) < NO_CHANGE:
        return months * 1.0
    return -np.expm1(-months * math.log1p(rate)) / rate


def growing_payments_worth(trend_per_year: float, rate: float, months: Any) -> Any:
    """Present value of 1 USD a month that changes by `trend_per_year`: Σ (1 + trend)^(t/12)/(1 + r)^t [USD].

    >>> round(float(growing_payments_worth(-0.2, 0.0, 12.0)), 3)
    10.656
    """
    step = math.log1p(trend_per_year) / 12.0 - math.log1p(rate)
    if abs(step) < NO_CHANGE:
        return months * 1.0
    return math.exp(step) * np.expm1(step * months) / math.expm1(step)


def resale_usd(capital_usd: float, fraction: float, decline_per_year: float, months: Any) -> Any:
    """What the machine still brings after so many months: K·ρ·(1 − decline)^(m/12) [USD].

    >>> round(resale_usd(30000.0, 0.9, 0.3, 12.0), 2)
    18900.0
    """
    return capital_usd * fraction * (1.0 - decline_per_year) ** (months / 12.0)


def present(amount_usd: Any, rate: float, months: Any) -> Any:
    """An amount of a later month, worth today: ÷ (1 + r)^m [USD]."""
    return amount_usd * np.exp(-months * math.log1p(rate))


def simple_months(capital_usd: float, saving_usd_per_month: float) -> float | None:
    """Months until what is saved reaches the capital: K/S; None when nothing is saved.

    >>> round(simple_months(30000.0, 905.38), 2)
    33.14
    """
    if capital_usd <= 0.0:
        return 0.0
    if saving_usd_per_month <= 0.0 or capital_usd > saving_usd_per_month * LONGEST_MONTHS:
        return None
    return capital_usd / saving_usd_per_month


def discounted_months(capital_usd: float, saving_usd_per_month: float, rate: float) -> float | None:
    """The same with interest: −ln(1 − K·r/S)/ln(1 + r); None when K·r ≥ S.

    >>> round(discounted_months(30000.0, 905.38, 0.08 / 12), 1)
    37.6
    """
    if abs(rate) < NO_CHANGE or capital_usd <= 0.0 or saving_usd_per_month <= 0.0:
        return simple_months(capital_usd, saving_usd_per_month)
    owed = capital_usd / saving_usd_per_month * rate
    if owed >= 1.0:
        return None
    found = -math.log1p(-owed) / math.log1p(rate)
    return found if found <= LONGEST_MONTHS else None


def annuity_usd_per_month(capital_usd: float, rate: float, months: float) -> float:
    """The monthly payment that returns a capital with interest: K·r/(1 − (1 + r)^−M) [USD/month].

    >>> round(annuity_usd_per_month(30000.0, 0.08 / 12, 36.0), 2)
    940.09
    """
    return float(capital_usd / payments_worth(rate, months))


def straight_line_usd_per_month(capital_usd: float, left_usd: float, months: float) -> float:
    """What is written off each month: (K − what is left)/M [USD/month].

    >>> straight_line_usd_per_month(30000.0, 3000.0, 36.0)
    750.0
    """
    return (capital_usd - left_usd) / months


def break_even_utilisation(owning_usd_per_month: float, usd_per_hour: float, hours: float) -> float | None:
    """The share of the hours for which renting costs as much as owning: (A + O)/(P·H); None without a rent.

    >>> round(break_even_utilisation(940.09 + 189.02, 2.50, 729.6), 3)
    0.619
    """
    whole = usd_per_hour * hours
    return owning_usd_per_month / whole if whole > NO_RENT else None
