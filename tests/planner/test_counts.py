"""Counts of the sheet (§5.3): each device and format with the smallest count that fits, or the reason why none does."""

import pytest

from calculator.planner.counts import SHEET_DEVICES, SHEET_FORMATS, gpus_needed
from tests.estimation.asking import SNAPSHOT


def counts(model):
    return {
        (device.accelerator.id, count.weights_format): count
        for device in gpus_needed(model, SNAPSHOT)
        for count in device.counts
    }


def test_every_device_answers_in_every_format():
    found = counts("llama-3.1-8b-instruct")
    assert [gpu for gpu, _ in found][:: len(SHEET_FORMATS)] == list(SHEET_DEVICES)
    assert len(found) == len(SHEET_DEVICES) * len(SHEET_FORMATS)


def test_w_5_4_kimi_k3_native_on_h100_and_h200():
    """One request of 8192 tokens: 24 H100 fit (68.7 of 72.85 GiB), 16 H200 fit."""
    found = counts("kimi-k3")
    assert [found[gpu, "native"].fits for gpu in ("h100-sxm", "h200-sxm")] == [24, 16]
    assert (found["h100-sxm", "native"].plan.tp, found["h100-sxm", "native"].plan.pp) == (8, 3)


@pytest.mark.parametrize(
    "gpu", ["rtx-4090", "rtx-5090", "dgx-spark", "mac-m5-max-128", "ryzen-ai-max-395-128"]
)
def test_kimi_k31_is_beyond_what_llama_cpp_joins(gpu):
    """Every published llama.cpp count of this model is 16 or more; stock llama.cpp joins 15 in a layer split."""
    for weights_format in ("bf16", "q4_k_m"):
        count = counts("kimi-k3.1-pro")[gpu, weights_format]
        assert count.fits is None
        assert count.why.code in ("more_devices_than_engine_joins", "no_count_fits")


def test_kimi_k31_counts_on_its_relatives_engine():
    assert counts("kimi-k3.1-pro")["h100-sxm", "native"].engine == "vllm"


@pytest.mark.parametrize(
    ("model", "gpu", "weights_format", "fits"),
    [
        ("gpt-oss-120b", "h100-sxm", "native", 1),  # openai/gpt-oss: runs on a single 80 GB GPU
        ("gpt-oss-120b", "mac-m5-max-128", "native", 1),
        ("deepseek-r1", "h200-sxm", "native", 8),  # 8 × H200, not 8 × H100
        ("deepseek-r1", "h100-sxm", "native", 16),
        ("llama-3.3-70b-instruct", "rtx-4090", "q4_k_m", 2),  # two 24 GB cards, not one
    ],
)
def test_well_known_counts(model, gpu, weights_format, fits):
    assert counts(model)[gpu, weights_format].fits == fits


def test_a_tight_count_stands_beside_and_is_smaller():
    for count in counts("gpt-oss-120b").values():
        if count.tight is not None and count.fits is not None:
            assert count.tight < count.fits
