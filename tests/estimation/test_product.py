"""The whole product: every model on every engine that lists its class, in three formats, on 1 and 8 GPUs."""

import math
from functools import cache

import pytest

from calculator.estimation import estimate
from calculator.estimation.engines.acceptance import backend_for, format_refusal, loads
from calculator.resolve import resolve
from calculator.scenario import Scenario
from tests.estimation.asking import SNAPSHOT

DEVICES = ("h100-sxm", "rtx-4090", "mac-m4-max-128")
COUNTS = (1, 8)
LEAST_ANSWERS = 300
FORMATS = (
    "native",
    "bf16",
    "fp8",
    "q4_k_m",
    "q8_0",
    "mxfp4_moe",
    "mlx-4bit",
    "mlx-8bit",
    "exl3-4.0bpw",
    "awq-int4",
)


@cache
def device_of(engine_id):
    """The first device of the list that the engine runs on."""
    engine = SNAPSHOT.engines[engine_id]
    return next(name for name in DEVICES if backend_for(engine, SNAPSHOT.accelerators[name]))


def formats_of(model, engine, accelerator):
    """The first three formats that the engine loads for the model on the device."""
    loaded = [f for f in FORMATS if format_refusal(engine, SNAPSHOT.formats[f], accelerator, model) is None]
    return loaded[:3]


@pytest.mark.parametrize("engine_id", sorted(SNAPSHOT.engines))
def test_every_model_that_the_engine_lists_answers(engine_id):
    engine, gpu = SNAPSHOT.engines[engine_id], device_of(engine_id)
    accelerator, asked = SNAPSHOT.accelerators[gpu], 0
    for model in SNAPSHOT.models.values():
        if not loads(engine, model):
            continue
        for weights_format in formats_of(model, engine, accelerator):
            for count in COUNTS:
                scenario = Scenario(model=model.id, gpu=gpu, n=count, engine=engine_id, quant=weights_format)
                answer = estimate(resolve(scenario, SNAPSHOT).configuration, capacity=False)
                where = (model.id, weights_format, count)
                asked += 1
                assert answer.verdict in ("fits", "tight", "offload", "does_not_fit", "unsupported"), where
                assert all(reason.code != "not_computed_yet" for reason in answer.reasons), where
                if answer.memory is None:
                    assert answer.verdict == "unsupported", where
                    continue
                memory = answer.memory
                assert sum(part.total_bytes for part in memory.parts) == memory.total_bytes, where
                assert sum(part.per_gpu_bytes for part in memory.parts) == memory.needed.value, where
                assert memory.needed.low <= memory.needed.value <= memory.needed.high < math.inf, where
    assert asked > LEAST_ANSWERS, asked
