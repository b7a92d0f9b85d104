"""The database side of the catalogue: what an admin edits. Records (catalog.records) are made from its entries."""

from catalog.models.accelerators import Accelerator
from catalog.models.calibration import Calibration
from catalog.models.checkpoints import Checkpoint
from catalog.models.costs import Assumption, Colocation, ElectricityPrice, PurchasePrice
from catalog.models.engines import Engine
from catalog.models.formats import FormatRules, WeightsFormat
from catalog.models.labs import Lab
from catalog.models.ladders import CountLadder
from catalog.models.language_models import LanguageModel
from catalog.models.measurements import Measurement
from catalog.models.offers import ApiPrice, DeviceName, Offer, Provider
from catalog.models.published_files import PublishedFile
from catalog.models.refresh import RefreshRun
from catalog.models.row import CatalogRow, Entry
from catalog.models.systems import System
from catalog.models.version import CatalogVersion

TABLES: tuple[type[CatalogRow], ...] = (
    Lab,
    Accelerator,
    WeightsFormat,
    FormatRules,
    CountLadder,
    Engine,
    Calibration,
    LanguageModel,
    System,
    Measurement,
    Provider,
    DeviceName,
    Offer,
    PurchasePrice,
    ApiPrice,
    ElectricityPrice,
    Colocation,
    Assumption,
)
"""Every table of entries, those that others point to first."""

__all__ = [
    "TABLES",
    "Accelerator",
    "ApiPrice",
    "Assumption",
    "Calibration",
    "CatalogRow",
    "CatalogVersion",
    "Checkpoint",
    "Colocation",
    "CountLadder",
    "DeviceName",
    "ElectricityPrice",
    "Engine",
    "Entry",
    "FormatRules",
    "Lab",
    "LanguageModel",
    "Measurement",
    "Offer",
    "Provider",
    "PublishedFile",
    "PurchasePrice",
    "RefreshRun",
    "System",
    "WeightsFormat",
]
