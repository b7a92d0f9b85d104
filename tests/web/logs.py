"""A small record of accuracy made by hand, whose figures can be worked out on paper."""

from dataclasses import replace

from calculator.accuracy.report import Comparison, Report, Skipped, summary
from catalog.records import Measurement

GIB = 2**30


def log(name: str, **given) -> Measurement:
    """A log of Llama 3.1 8B on vLLM, never used for fitting."""
    plain = Measurement(
        id=f"mem-{name}",
        task="memory",
        split="check",
        group="llama|vllm|somewhere",
        engine="vllm",
        engine_version="0.19.0",
        model="Meta-Llama-3.1-8B-Instruct",
        model_id="llama-3.1-8b-instruct",
        attention="gqa",
        weights_format="bf16",
        device="H100 80GB SXM",
        scenario={
            "model": "llama-3.1-8b-instruct",
            "gpu": "h100-sxm",
            "engine": "vllm",
            "engine_version": "0.19.0",
        },
        observed=(),
        comparable=True,
        compare=(),
        why_not=(),
        source=f"someone/logs#{len(name)}",
        date="2026-03",
        confidence="high",
    )
    return replace(plain, **given)


def compared(measurement: Measurement, part: str, observed: float, predicted: float, **given) -> Comparison:
    """A size in GiB beside the calculated one, with a range of ± 5 % unless told otherwise."""
    sizes = {
        "predicted": predicted * GIB,
        "low": 0.95 * predicted * GIB,
        "high": 1.05 * predicted * GIB,
        "observed": observed * GIB,
        "tolerance": 0.005 * GIB,
    }
    plain = Comparison(
        measurement=measurement,
        part=part,
        observed_part=part,
        device="per_gpu",
        unit="bytes",
        basis="calibrated",
        **sizes,
    )
    return replace(plain, **given)


def exact(measurement: Measurement, part: str, observed: float, predicted: float) -> Comparison:
    value = predicted * GIB
    return compared(measurement, part, observed, predicted, low=value, high=value, basis="exact")


def report(comparisons: list[Comparison], skipped: tuple[Skipped, ...] = ()) -> Report:
    worst = tuple(sorted(comparisons, key=lambda item: -abs(item.error)))
    ids = {item.measurement.id for item in worst}
    left = {item.measurement.id for item in skipped if item.part is None}
    return Report("memory", len(ids | left), len(ids), len(ids), skipped, summary(worst, {}), worst)


FIRST = log("first")
SECOND = log("second", engine="llama.cpp", engine_version="b9849", model="gemma-3-27b-it", model_id="gemma-3-27b-it", attention="sliding_window", source="ggml-org/llama.cpp:docs/some file.md (line 3)", scenario={})  # fmt: skip
THIRD = log(
    "third", source="log quoted in a public repository, not identified (ref 1)", note="a card with a screen"
)
FITTED = log("fitted", split="fit")
LEFT = log("left", comparable=False, source="https://www.example.org/a?b=1 (table 2)")

RECORD = report(
    [
        compared(FIRST, "parts", 20.0, 20.2),  # + 1 %
        compared(SECOND, "parts", 40.0, 36.0),  # − 10 %, outside
        compared(THIRD, "parts", 10.0, 10.2),  # + 2 %
        compared(THIRD, "total", 12.0, 24.0),  # the same GPU by another name: not counted twice
        exact(FIRST, "kv_cache", 1.0, 1.0),
        exact(SECOND, "kv_cache", 2.0, 2.5),
        compared(FITTED, "parts", 10.0, 15.0),
    ],
    (
        Skipped(LEFT, None, "share_not_stated"),
        Skipped(log("other"), None, "the card is shared"),
        Skipped(log("third"), "compute_buffer", "cache_on_host"),
    ),
)
"""Three logs never used for fitting, one used, two left out."""
