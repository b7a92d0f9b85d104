"""The connection that a visitor names: what it carries by its standard, and what it does to a speed."""

import itertools

import pytest

from calculator.estimation.links import LINKS, NETWORKS, SLOTS
from calculator.estimation.throughput.communication import fast_link, slot_bytes_per_s
from calculator.scenario import BY_NAME
from tests.estimation.asking import ask


def test_every_link_of_the_question_is_known():
    assert BY_NAME["link"].choices == LINKS


PAIR = {"model": "llama-3.1-8b-instruct", "gpu": "rtx-3090", "n": "2", "engine": "vllm", "tp": "2"}
EIGHT = {"model": "llama-3.1-405b-instruct", "gpu": "h100-sxm", "n": "16", "quant": "fp8"}


def speed(query, link):
    return ask(**query, link=link).estimate.speed


@pytest.mark.parametrize(
    ("link", "gigabytes_per_s"),
    [
        ("pcie3", 15.75),  # PCI-SIG: 8 GT/s × 16 × 128/130 ÷ 8
        ("pcie4", 31.5),
        ("pcie4x8", 15.75),
        ("pcie5x4", 15.75),
        ("pcie5", 63.0),
        ("ib400", 50.0),  # NDR: 400 Gbit/s
        ("eth100", 12.5),
        ("tb5", 10.0),  # 80 Gbit/s
    ],
)
def test_a_link_carries_what_its_standard_says(link, gigabytes_per_s):
    assert {**SLOTS, **NETWORKS}[link] / 1e9 == pytest.approx(gigabytes_per_s)


def test_two_cards_with_a_bridge_are_slower_through_their_slots():
    bridge, slots, narrow = (speed(PAIR, link) for link in ("auto", "pcie4", "pcie3x4"))
    for earlier, later in ((bridge, slots), (slots, narrow)):
        assert earlier.decode_tokens_per_s_per_user.value > later.decode_tokens_per_s_per_user.value
        assert earlier.prefill_tokens_per_s.value > later.prefill_tokens_per_s.value


def test_the_fast_link_of_the_device_is_what_auto_takes():
    assert speed(PAIR, "nvlink") == speed(PAIR, "auto")
    assert fast_link(ask(**PAIR, link="auto").configuration).kind == "NVLink 3 bridge"
    assert fast_link(ask(**PAIR, link="pcie4").configuration) is None


def test_a_slot_is_never_wider_than_the_card():
    asked = ask(**PAIR, link="pcie5")
    assert slot_bytes_per_s(asked.configuration) == SLOTS["pcie4"]
    assert [(p.field, p.code, p.used) for p in asked.problems] == [("link", "link_above_slot", "pcie5")]


def test_a_card_without_a_fast_link_says_so():
    asked = ask(gpu="rtx-4090", n="2", link="nvlink")
    assert [(p.field, p.code, p.used) for p in asked.problems] == [("link", "no_fast_link", "auto")]
    assert asked.estimate.speed == ask(gpu="rtx-4090", n="2").estimate.speed


def test_a_slower_network_between_machines_is_never_faster():
    order = sorted(NETWORKS, key=NETWORKS.__getitem__)
    rates = [speed(EIGHT, link) for link in order]
    for slow, fast in itertools.pairwise(rates):
        assert fast.decode_tokens_per_s_per_user.value >= slow.decode_tokens_per_s_per_user.value
        assert fast.ttft_ms.value <= slow.ttft_ms.value
    assert rates[-1].ttft_ms.value < rates[0].ttft_ms.value


def test_a_network_inside_one_machine_is_said_to_be_unused():
    inside = {**EIGHT, "n": "8"}
    assert [(p.field, p.code) for p in ask(**inside, link="ib400").problems] == [("link", "link_unused")]
    assert speed(inside, "ib400") == speed(inside, "auto")


@pytest.mark.parametrize("link", LINKS)
def test_memory_does_not_depend_on_the_link(link):
    assert ask(**PAIR, link=link).estimate.memory == ask(**PAIR).estimate.memory


def test_what_is_copied_from_system_ram_goes_through_the_slot():
    query = {"model": "llama-3.3-70b-instruct", "gpu": "rtx-4090", "offload": "auto"}
    wide, narrow = speed(query, "auto"), speed(query, "pcie3x4")
    assert narrow.ttft_ms.value > wide.ttft_ms.value
