"""Every model on every kind of device, in several counts: an answer that can be drawn, whatever it says."""

import math
from collections import Counter

import numpy as np
import pytest

from calculator.estimation import estimate
from calculator.estimation.memory import Sum
from calculator.resolve import resolve
from calculator.scenario import Scenario
from tests.estimation.asking import SNAPSHOT, ask

DEVICES = [
    "rtx-3060-12", "rtx-4090", "rtx-5090", "rx-7900-xtx", "t4", "h100-sxm", "b200", "mi300x", "mac-m4-max-128",
    "dgx-spark", "cpu-ddr4-desktop", "hgx-h100-8",
]  # fmt: skip
COUNTS = (1, 2, 3, 8, 16)


def drawable(memory):
    numbers = [
        memory.needed.value,
        memory.needed.low,
        memory.needed.high,
        memory.occupied_bytes,
        memory.host_bytes,
    ]
    numbers += [part.high_bytes for part in memory.parts] + [part.low_bytes for part in memory.parts]
    return all(math.isfinite(number) and number >= 0 for number in numbers)


def answers(device, counts):
    for model in SNAPSHOT.models:
        for count in counts:
            scenario = Scenario(model=model, gpu=device, n=count)
            yield model, count, estimate(resolve(scenario, SNAPSHOT).configuration, capacity=count == 1)


@pytest.mark.parametrize("device", DEVICES)
def test_every_model_has_an_answer(device):
    """Without capacity it is refused or a bare question of memory; without memory the reason says why."""
    verdicts = Counter()
    for model, count, found in answers(device, COUNTS):
        verdicts[found.verdict] += 1
        assert found.reasons, (model, count)
        if found.memory is None:
            assert found.verdict == "unsupported", (model, count)
        else:
            assert drawable(found.memory), (model, count)
        if found.capacity is not None:
            assert found.verdict != "unsupported", (model, count)
    assert sum(verdicts.values()) == 329 * len(COUNTS)
    assert verdicts["fits"] > 0


@pytest.mark.parametrize("accelerator", SNAPSHOT.accelerators)
def test_every_accelerator_has_an_answer(accelerator):
    found = ask(gpu=accelerator)
    assert found.problems == ()
    assert found.verdict in ("fits", "tight", "does_not_fit", "unsupported")
    if found.verdict != "unsupported":
        assert drawable(found.memory)
        assert found.usable_gib <= found.memory.limit.physical_bytes / 2**30


@pytest.mark.parametrize("system", SNAPSHOT.systems)
def test_every_system_has_an_answer(system):
    found = ask(gpu=system, model="gpt-oss-20b")
    assert found.problems == ()
    assert found.configuration.count == SNAPSHOT.systems[system].count
    assert found.estimate.reasons


@pytest.mark.parametrize("weights_format", SNAPSHOT.formats)
@pytest.mark.parametrize("engine", ["llama.cpp", "vllm"])
def test_every_format_is_loaded_or_refused_with_a_reason(engine, weights_format):
    found = ask(engine=engine, quant=weights_format, gpu="h100-sxm")
    assert found.problems == ()
    assert found.configuration.weights_format.id == weights_format
    assert (found.estimate.capacity is None) == (found.verdict == "unsupported")


def test_the_largest_questions_do_not_overflow():
    """16 777 216 tokens for 65 536 requests, as an axis of 64-bit integers and as Python's own."""
    largest = np.array([65_536], dtype=np.int64)
    for model in SNAPSHOT.models:
        c = resolve(Scenario(model=model, gpu="h100-sxm", engine="vllm"), SNAPSHOT).configuration
        by_axis = np.broadcast_to(Sum(c).fullest(16_777_216, largest).value, (1,))
        assert by_axis[0] == Sum(c).fullest(16_777_216, 65_536).value, model
