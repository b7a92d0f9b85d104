"""Imports run one way, and the arithmetic is pure.

    web, api, management → planner, launch → resolve → scenario, estimation
    estimation → catalog.records, catalog.architecture        catalog → nothing of calculator

Each rule says which files it holds for and which modules they may not import (or, of this project, may only import).
"""

import ast
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = {"calculator", "catalog", "config", "tests", "benchmarks", "scripts"}


@dataclass(frozen=True)
class Rule:
    name: str
    files: tuple[str, ...]  # folders or files, from the repository's top
    forbidden: tuple[str, ...] = ()  # modules, with all inside them
    only: tuple[str, ...] | None = None  # of this project's modules, only these and what lies inside `files`
    required: bool = True  # False: the files may be missing
    except_files: tuple[str, ...] = ()


DATABASE = ("django", "ninja", "sqlite3", "catalog.models", "catalog.live")
CLOCK = ("time", "datetime", "zoneinfo")
FILES = (
    "os",
    "pathlib",
    "io",
    "shutil",
    "tempfile",
    "subprocess",
    "socket",
    "urllib.request",
    "http",
    "requests",
    "glob",
)
IMPURE = (*DATABASE, *CLOCK, *FILES, "random", "logging", "config")

RULES = [
    Rule(
        "the catalogue's records, architectures and snapshot are pure, and know nothing of the rest",
        (
            "catalog/records.py",
            "catalog/architecture",
            "catalog/entries.py",
            "catalog/prices.py",
            "catalog/price_entries.py",
            "catalog/price_book.py",
            "catalog/snapshot.py",
        ),
        # Records carry dates (of a price, of a release): the type is fine, asking for today is caught below.
        forbidden=tuple(name for name in IMPURE if name != "datetime"),
        only=(
            "catalog.records",
            "catalog.architecture",
            "catalog.entries",
            "catalog.prices",
            "catalog.price_entries",
            "catalog.price_book",
            "catalog.snapshot",
        ),
    ),
    Rule("the catalogue never imports the calculator", ("catalog",), forbidden=("calculator", "config")),
    Rule(
        "the arithmetic is pure and takes from this project only records and architectures",
        ("calculator/estimation",),
        forbidden=IMPURE,
        only=("catalog.records", "catalog.architecture", "calculator.estimation"),
    ),
    Rule(
        "the question is pure and knows no answer",
        ("calculator/scenario.py", "calculator/scenario"),
        forbidden=IMPURE,
        only=("calculator.scenario", "catalog.records"),
    ),
    Rule(
        "resolving takes a snapshot as an argument and needs no Django",
        ("calculator/resolve.py", "calculator/resolve", "calculator/pricing.py"),
        forbidden=IMPURE,
        only=(
            "calculator.resolve",
            "calculator.pricing",
            "calculator.scenario",
            "calculator.estimation",
            "catalog.records",
            "catalog.architecture",
            "catalog.snapshot",
            "catalog.prices",
            "catalog.price_book",
        ),
    ),
    Rule(
        "the planner takes a snapshot as an argument and needs no Django",
        ("calculator/planner",),
        forbidden=(*IMPURE, "calculator.web", "calculator.api", "calculator.launch"),
        required=False,
    ),
    Rule(
        "commands and guides are below the pages",
        ("calculator/launch",),
        forbidden=(*IMPURE, "calculator.web", "calculator.api", "calculator.planner"),
        required=False,
    ),
    Rule(
        "only pages, API and commands read the live catalogue",
        ("calculator",),
        forbidden=("catalog.live",),
        except_files=("calculator/web", "calculator/api.py", "calculator/management"),
    ),
    Rule(
        "pages do not import the API or commands",
        ("calculator/web",),
        forbidden=("calculator.api", "calculator.management"),
    ),
    Rule(
        "settings hold nothing of the domain",
        ("config",),
        forbidden=("calculator", "catalog"),
        # The list of addresses names the apps; the readiness page asks whether the catalogue is there; the server's
        # processes follow it.
        except_files=("config/urls.py", "config/health.py", "config/gunicorn.py"),
    ),
]


def python_files(places: tuple[str, ...], except_files: tuple[str, ...] = ()) -> list[Path]:
    left_out = [ROOT / name for name in except_files]
    found: set[Path] = set()
    for place in places:
        path = ROOT / place
        found |= set(path.rglob("*.py")) if path.is_dir() else {path} & set(path.parent.glob(path.name))
    return sorted(
        file
        for file in found
        if "migrations" not in file.parts and not any(file.is_relative_to(out) for out in left_out)
    )


def imported_modules(file: Path) -> list[tuple[int, str]]:
    """List (line, module) of each import in the file, those inside functions too.

    `from catalog import live` may name a module or a thing in one, so it counts as `catalog.live`.
    """
    found = []
    package = file.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            found += [(node.lineno, f"{module}.{alias.name}") for alias in node.names]
    return found


def inside(module: str, parents: tuple[str, ...]) -> bool:
    return any(module == parent or module.startswith(f"{parent}.") for parent in parents)


def broken_arrows(rule: Rule) -> list[str]:
    broken = []
    for file in python_files(rule.files, rule.except_files):
        for line, module in imported_modules(file):
            ours = module.split(".")[0] in PROJECT
            allowed = rule.only is None or not ours or inside(module, rule.only)
            if inside(module, rule.forbidden) or not allowed:
                broken.append(f"{file.relative_to(ROOT)}:{line} imports {module}")
    return broken


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_imports_run_one_way(rule):
    files = python_files(rule.files, rule.except_files)
    assert files or not rule.required, (
        f"No file was looked at for the rule “{rule.name}”: has its place moved?"
    )
    assert broken_arrows(rule) == [], f"Broken: {rule.name}"


def test_a_broken_arrow_is_seen():
    """The rule itself is tried on a file that breaks it: this one imports pytest and pathlib."""
    rule = Rule("tests import no pathlib", ("tests/test_architecture.py",), forbidden=("pathlib",))
    assert [text.split(" ", 1)[1] for text in broken_arrows(rule)] == ["imports pathlib.Path"]


PURE = (
    "catalog/records.py",
    "catalog/architecture",
    "catalog/entries.py",
    "catalog/snapshot.py",
    "calculator/estimation",
    "calculator/scenario.py",
)
CLOCK_CALLS = {"now", "today", "utcnow"}
OPENING_CALLS = {"open", "input", "print", "exec", "eval", "__import__"}


def test_pure_code_asks_no_clock_and_opens_no_file():
    files = python_files(PURE)
    assert files
    found = []
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(), str(file))):
            if not isinstance(node, ast.Call):
                continue
            opens = isinstance(node.func, ast.Name) and node.func.id in OPENING_CALLS
            asks = isinstance(node.func, ast.Attribute) and node.func.attr in CLOCK_CALLS
            if opens or asks:
                found.append(f"{file.relative_to(ROOT)}:{node.lineno} calls {ast.unparse(node.func)}()")
    assert found == []


ENGINES = {
    "llama.cpp",
    "ollama",
    "lm-studio",
    "vllm",
    "sglang",
    "tensorrt-llm",
    "mlx",
    "transformers",
    "exllama",
    "ktransformers",
}
# Where an engine's own rules live.
ENGINE_PLACES = ("calculator/estimation/engines", "calculator/launch", "catalog/data")


def engine_names_in(node: ast.AST) -> set[str]:
    return {
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in ENGINES
    }


def engine_decisions(file: Path) -> list[str]:
    """Find comparisons and match cases with an engine's id; a table of ids (a dict, a list) is data and is fine."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        if isinstance(node, ast.Compare):
            names = set().union(*(engine_names_in(part) for part in [node.left, *node.comparators]))
        elif isinstance(node, ast.MatchValue):
            names = engine_names_in(node)
        else:
            continue
        if names:
            line = getattr(node, "lineno", 0)
            found.append(f"{file.relative_to(ROOT)}:{line} decides by engine {', '.join(sorted(names))}")
    return found


def test_no_decision_by_engine_outside_the_engines():
    files = python_files(("calculator", "catalog"), ENGINE_PLACES)
    assert files
    found = [decision for file in files for decision in engine_decisions(file)]
    assert found == [], (
        "An engine's rule belongs in its file in calculator/estimation/engines or calculator/launch."
    )
