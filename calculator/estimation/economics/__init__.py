"""What it costs: cost per million tokens, and rent, buy or API (formulas §9). PURE: figures and prices in,
money out."""

from calculator.estimation.economics.cost import cost_of
from calculator.estimation.economics.inputs import (
    ApiPrice,
    Electricity,
    Money,
    Purchase,
    Rent,
    Use,
    exactly,
    resale_path,
)
from calculator.estimation.economics.ownership import ownership_of
from calculator.estimation.economics.results import Cost, Costed, Owned, Ownership

__all__ = [
    "ApiPrice",
    "Cost",
    "Costed",
    "Electricity",
    "Money",
    "Owned",
    "Ownership",
    "Purchase",
    "Rent",
    "Use",
    "cost_of",
    "exactly",
    "ownership_of",
    "resale_path",
]
