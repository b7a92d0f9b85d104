"""How much of a device an engine may take (methodology §1.2, §1.3)."""

from dataclasses import replace

import pytest

from calculator.estimation.configuration import Platform
from calculator.estimation.devices import default_os, physical_bytes, usable_memory
from catalog.records import GIB, MIB
from tests.estimation.asking import SNAPSHOT, ask


def device(identity):
    return SNAPSHOT.hosts(identity)[0]


def usable_gib(identity, **platform):
    accelerator = device(identity)
    limit, _ = usable_memory(accelerator, Platform(**{"os": default_os(accelerator), **platform}))
    return limit.value / GIB


def interval_gib(identity, **platform):
    accelerator = device(identity)
    limit, _ = usable_memory(accelerator, Platform(**{"os": default_os(accelerator), **platform}))
    return limit.low / GIB, limit.high / GIB


def rule(identity, **platform):
    accelerator = device(identity)
    return usable_memory(accelerator, Platform(**{"os": default_os(accelerator), **platform}))[1].code


def test_w_1_1_a_gibibyte_is_not_a_gigabyte():
    assert 24 * GIB == 25_769_803_776
    assert round(24 * GIB / 10**9, 2) == 25.77
    assert GIB == 1024 * MIB


# Totals that processes were seen to have (cudaMemGetInfo in allocator messages), MiB.
MEASURED_PROCESS_MIB = {
    "rtx-3090": 24_126,
    "rtx-4090": 24_210,
    "rtx-5090": 32_123,
    "rtx-5060-ti-16": 15_850,
    "rtx-pro-6000": 97_249,
    "l40s": 45_467,
    "a100-sxm-80": 81_080,
    "h100-sxm": 81_080,
    "h200-sxm": 143_155,
    "b200": 182_630,
    "t4": 14_912,
    "mi300x": 196_588,
    "rx-7900-xtx": 24_560,
}


@pytest.mark.parametrize(("identity", "mib"), MEASURED_PROCESS_MIB.items(), ids=MEASURED_PROCESS_MIB)
def test_a_measured_process_total_is_what_a_headless_card_offers(identity, mib):
    limit, reason = usable_memory(device(identity), Platform("linux"))
    assert limit.value == mib * MIB
    assert (limit.value - limit.low, limit.high - limit.value) == pytest.approx((0.06 * GIB, 0.06 * GIB))
    assert reason.code == "process_total"


def test_w_1_3_a_process_total_by_rule():
    """0.996 · driver total − 350 MiB: RTX A5000 24 564 → 24 116; a 12 GB GeForce without a driver figure → 11 889."""
    assert usable_gib("rtx-a5000") * 1024 == pytest.approx(24_116, abs=1)
    assert usable_gib("rtx-3080-12") * 1024 == pytest.approx(11_889, abs=1)
    assert rule("rtx-a5000") == "process_total_by_rule"


def test_a_total_by_rule_is_known_to_0_4_percent_and_at_least_150_mib():
    low, high = interval_gib("rtx-a5000")
    assert (high - low) / 2 * 1024 == pytest.approx(150)
    low, high = interval_gib("h100-nvl")
    assert (high - low) / 2 == pytest.approx(0.004 * usable_gib("h100-nvl"))


@pytest.mark.parametrize(("card", "usable"), [("h100-sxm", 72.85), ("h200-sxm", 128.62), ("rtx-4090", 21.75)])
def test_w_1_2_vllm_takes_0_92_of_the_process_total(card, usable):
    answer = ask(gpu=card, engine="vllm")
    assert round(answer.usable_gib, 2) == usable
    assert answer.memory.limit.rule.code == "engine_share"


W_1_4 = {
    "macOS 15": ("mac-m4-max-128", {"os": "macos15"}, 96.0),
    "macOS 26": ("mac-m4-max-128", {}, 107.52),
    "AMD APU, Linux": ("ryzen-ai-max-395-128", {}, 64.25),
    "DGX Spark": ("dgx-spark", {}, 103.4),
}


@pytest.mark.parametrize(("identity", "platform", "gib"), W_1_4.values(), ids=W_1_4)
def test_w_1_4_shared_memory_of_128_gb_depends_on_the_platform(identity, platform, gib):
    assert usable_gib(identity, **platform) == pytest.approx(gib, abs=0.05)


# Working sets that machines reported, and the assumed ones: (device, OS, GiB).
MAC_WORKING_SETS = [
    ("mac-m1-8", "macos15", 8 * 2 / 3),
    ("mac-m1-16", "macos15", 16 * 2 / 3),
    ("mac-m4-32", "macos15", 32 * 2 / 3),
    ("mac-m3-max-64", "macos15", 48),
    ("mac-m2-ultra-192", "macos15", 144),
    ("mac-m1-8", "macos26", 8 * 0.70),
    ("mac-m4-16", "macos26", 11.84),
    ("mac-m4-24", "macos26", 17.76),
    ("mac-m4-32", "macos26", 24.96),
    ("mac-m3-pro-36", "macos26", 36 * 0.80),
    ("mac-m2-max-96", "macos26", 96 * 0.80),
    ("mac-m4-max-128", "macos26", 107.52),
    ("mac-m3-ultra-512", "macos26", 512 * 0.84),
]


@pytest.mark.parametrize(("identity", "system", "gib"), MAC_WORKING_SETS)
def test_a_macs_working_set_goes_by_its_size_and_its_system(identity, system, gib):
    assert usable_gib(identity, os=system) == pytest.approx(gib)


@pytest.mark.parametrize(
    ("identity", "shares"),
    [
        ("mac-m1-8", (0.67, 0.74)),
        ("mac-m4-max-64", (0.75, 0.84)),
        ("mac-m4-max-128", (0.84, 0.84)),
        ("mac-m3-ultra-512", (0.75, 0.90)),
    ],
)
def test_a_share_that_was_not_measured_has_an_interval(identity, shares):
    assert interval_gib(identity) == pytest.approx(tuple(s * device(identity).memory_gb for s in shares))


def test_a_wired_limit_is_followed_exactly():
    assert usable_gib("mac-m4-max-128", wired_gb=120) == 120
    assert interval_gib("mac-m4-max-128", wired_gb=120) == (120, 120)
    assert rule("mac-m4-max-128", wired_gb=120) == "macos_wired"


def test_a_wired_limit_gives_no_more_than_there_is():
    assert usable_gib("mac-m4-max-128", wired_gb=500) == 128


def test_an_apus_carve_out_is_added_to_half_of_the_rest():
    """Linux, amdgpu: GTT = max(3 GiB, half of the memory outside the carve-out); 96 of 128 GB → 96 + 16."""
    assert usable_gib("ryzen-ai-max-395-128", vgm_gb=96) == 112
    assert usable_gib("ryzen-ai-max-395-64") == 0.5 + 63.5 / 2


def test_an_apu_under_windows_is_known_between_half_and_three_quarters():
    assert interval_gib("ryzen-ai-max-395-128", os="windows") == (64, 96)
    assert usable_gib("ryzen-ai-max-395-128", os="windows", vgm_gb=96) == 96 + 32 / 2


def test_a_shared_pool_without_a_rule_of_its_own_keeps_4_gib():
    assert usable_gib("jetson-agx-orin-64") == 60
    assert interval_gib("jetson-agx-orin-64") == (56, 62)
    assert usable_gib("cpu-ddr4-desktop") == 28


def test_dgx_spark_shares_its_process_total_with_the_system():
    """0.85 of 121.69 GiB; 101–102 were free after boot, 118 on a stripped system."""
    assert rule("dgx-spark") == "grace_pool"
    low, high = interval_gib("dgx-spark")
    assert 101 <= low <= 102
    assert round(high, 1) == 118


def test_a_desktop_on_the_card_takes_0_8_gib():
    total = 24_210 / 1024
    assert usable_gib("rtx-4090", display=True) == pytest.approx(total - 0.8)
    assert interval_gib("rtx-4090", display=True) == pytest.approx((total - 0.06 - 1.5, total + 0.06 - 0.3))
    assert rule("rtx-4090", display=True) == "display_reserve"


@pytest.mark.parametrize("system", ["windows", "wsl"])
def test_windows_keeps_5_percent_of_the_driver_total(system):
    """(24 564 − 1) MiB − 5 % of 24 564 MiB; the desktop is part of it."""
    expected = (24_563 - 0.05 * 24_564) / 1024
    assert usable_gib("rtx-4090", os=system) == pytest.approx(expected)
    assert usable_gib("rtx-4090", os=system, display=True) == pytest.approx(expected)
    assert rule("rtx-4090", os=system) == "windows_reserve"


def test_windows_keeps_at_least_0_8_gib():
    """RTX 3060 12 GB: 12 288 MiB, of which 5 % would be 614."""
    assert usable_gib("rtx-3060-12", os="windows") == pytest.approx((12_287 - 0.8 * 1024) / 1024)


def test_vllm_takes_its_share_of_the_larger_total_under_wsl():
    """WSL: a process sees the driver total less 1 MiB, so 0.92 · 24 563 MiB (methodology §1.2)."""
    assert ask(gpu="rtx-4090", engine="vllm", os="wsl").usable_mib == pytest.approx(0.92 * 24_563)


def test_a_share_above_what_the_platform_leaves_is_not_granted():
    """DGX Spark: 0.92 of the process total fails to start, 0.85 is taken."""
    answer = ask(gpu="dgx-spark", engine="vllm")
    assert answer.usable_gib == pytest.approx(0.85 * 124_611 / 1024)
    assert answer.memory.limit.rule.code == "grace_pool"


# Totals that driver tools report, MiB.
DRIVER_MIB = {
    "rtx-3090": 24_576,
    "rtx-4090": 24_564,
    "rtx-5090": 32_607,
    "rtx-pro-6000": 97_887,
    "l40s": 46_068,
    "a100-sxm-80": 81_920,
    "h100-sxm": 81_559,
    "h200-sxm": 143_771,
    "a40": 46_068,
    "h100-nvl": 95_830,
    "b300": 275_040,
    "gb200": 189_471,
    "gb300": 284_208,
}


@pytest.mark.parametrize(("identity", "mib"), DRIVER_MIB.items(), ids=DRIVER_MIB)
def test_all_of_a_card_is_what_its_driver_reports(identity, mib):
    assert physical_bytes(device(identity)) == mib * MIB


def test_a_driver_total_that_nobody_published_follows_from_the_process_total():
    """T4: (14 912 + 350) ÷ 0.996 = 15 323 MiB."""
    assert physical_bytes(device("t4")) / MIB == pytest.approx(15_323.3, abs=0.1)


def test_all_of_a_shared_memory_is_what_was_sold():
    assert physical_bytes(device("mac-m4-max-128")) == 128 * GIB
    assert physical_bytes(device("dgx-spark")) == 124_611 * MIB


def test_a_card_without_any_figure_stays_unknown():
    bare = replace(device("rtx-4090"), reported_bytes=None, process_bytes=None)
    assert physical_bytes(bare) is None
    assert usable_memory(bare, Platform("linux")) is None
