"""Every kind of attention and state beyond plain keys and values: the table "per model" of the cache kinds, the layouts
of compressed entries, and what the engines reserve for them (methodology §3)."""

from collections import Counter

import pytest

from calculator.estimation.cache import entry_bytes, index_key_bytes, state_bytes, state_most
from catalog.architecture import CacheEntry, StateEntry
from catalog.records import MIB
from tests.estimation.asking import SNAPSHOT, architecture, ask

H200 = {"gpu": "h200-sxm", "n": 8}


def caches(model_id):
    """(entry, layers) over the whole model."""
    shape = architecture(model_id)
    blocks = [shape.blocks[index] for index in shape.sequence]
    return Counter(entry for block in blocks for entry in block.mixer.caches()).items()


def states(model_id):
    shape = architecture(model_id)
    blocks = [shape.blocks[index] for index in shape.sequence]
    return Counter(entry for block in blocks for entry in block.mixer.states()).items()


def growing(model_id):
    return sum(layers * entry_bytes(e, "bf16") / e.pool for e, layers in caches(model_id) if e.window is None)


def index(model_id):
    return sum(layers * index_key_bytes(e, "bf16") / e.index_pool for e, layers in caches(model_id))


def window_mib(model_id):
    return sum(layers * entry_bytes(e, "bf16") * e.window for e, layers in caches(model_id) if e.window) / MIB


# The table "Per model" of the cache kinds: bytes per token, index bytes per token, windows [MiB].
PER_MODEL = {
    "kimi-k3": (27_648, 0, 0),
    "kimi-k3.1-pro": (27_648, 3_168, 0),
    "qwen3.5-27b": (65_536, 0, 0),
    "qwen3.5-397b-a17b": (30_720, 0, 0),
    "deepseek-v3.2": (70_272, 8_052, 0),
    "deepseek-v4-pro": (7_928, 990, 7.6),
    "deepseek-v4-flash": (5_536, 693, 5.4),
    "deepseek-v4.1-flash": (2_560, 858, 5.0),
    "glm-5": (89_856, 10_296, 0),
    "glm-5.2": (89_856, 2_772, 0),
    "glm-5.3-flash": (11_264, 91, 0),
    "minimax-m3": (122_880, 14_592, 0),
    "mimo-v2-flash": (23_040, 0, 24.4),
    "gpt-oss-120b": (36_864, 0, 4.5),
}


@pytest.mark.parametrize(("model_id", "row"), PER_MODEL.items(), ids=PER_MODEL)
def test_per_model_bytes_per_token_index_and_windows(model_id, row):
    found = growing(model_id), round(index(model_id)), round(window_mib(model_id), 1)
    assert found == row


# The same table: state in FP32 with convolution tails in 16 bits [MiB].
STATE_MIB = {
    "kimi-k3": 428.55,
    "kimi-k3.1-pro": 428.55,
    "qwen3.5-27b": 146.8,
    "qwen3.5-397b-a17b": 183.2,
    "glm-5.3-flash": 140.8,
}


@pytest.mark.parametrize(("model_id", "mib"), STATE_MIB.items(), ids=STATE_MIB)
def test_per_model_state(model_id, mib):
    total = sum(layers * state_bytes(entry, 4, 2) for entry, layers in states(model_id)) / MIB
    assert total == pytest.approx(mib, abs=0.05)


def test_v4_entries_have_their_layouts():
    """584 B in FP8 (448 + 2 × 64 + 8), 1024 B in 16 bits; V4.1 528 B and, in FP4, 288 B."""
    v4 = next(e for e, _ in caches("deepseek-v4-pro") if e.pool == 4)
    v41 = next(e for e, _ in caches("deepseek-v4.1-flash") if e.pool == 2 and e.elements)
    assert [entry_bytes(v4, kind) for kind in ("bf16", "fp8")] == [1024, 584]
    assert [entry_bytes(v41, kind) for kind in ("bf16", "fp8", "nvfp4")] == [1024, 528, 288]


def test_v41_writes_on_4_layers_and_holds_8_index_keys():
    found = caches("deepseek-v4.1-flash")
    assert sum(layers for e, layers in found if e.elements and e.window is None) == 4
    assert sum(layers for e, layers in found if e.index_elements) == 8
    assert sum(layers for e, layers in found if e.window) == 40


@pytest.mark.parametrize(
    ("ratio", "rows", "width"), [(4, 8, 2 * 2 * 512 + 4 * 128), (128, 128, 2 * 512)], ids=["csa", "hca"]
)
def test_a_compressor_keeps_a_ring_of_rows(ratio, rows, width):
    """8 rows of two overlapping streams, or 128 of one; key and score each; the indexer's own beside it."""
    shape = architecture("deepseek-v4-pro")
    mixer = next(b.mixer for b in shape.blocks if b.mixer.compress_ratio == ratio)
    (entry,) = mixer.states()
    assert (entry.state_elements, entry.row_elements) == (rows * width, width)
    assert state_bytes(entry, 4, 2, shards=8) == 4 * rows * width


def test_short_convolutions_beside_attention_run_on_four_streams():
    """Inkling, full layers: kernel 4 on key and value (8 × 128 each), on the attention's and the experts' output (d)."""
    hidden = architecture("inkling").hidden_size
    found = {entry.conv_elements for entry, _ in states("inkling")}
    assert 3 * (2 * 8 * 128 + 2 * hidden) in found
    assert 3 * (2 * 16 * 128 + 2 * hidden) in found


def test_a_stream_that_nobody_confirmed_only_widens_the_range():
    (entry, _), *_rest = states("inkling-2-small")
    sure = state_bytes(entry, 2, 2)
    assert sure * state_most(entry, 2, 2) == pytest.approx(sure + 2 * 3 * 48 * 128)


def test_a_convolution_remembers_a_column_for_each_drafted_token():
    entry = StateEntry("kda", 0, 30, 1, conv_columns=3)
    assert state_bytes(entry, 4, 2) == 60
    assert state_bytes(entry, 4, 2, drafted=2) == 100


def test_dots3_latents_keep_a_window_on_33_layers():
    """1024 + 64 wide, window 512."""
    found = [(e.elements, layers) for e, layers in caches("dots3-note-prev") if e.window == 512]
    assert found == [(1088, 33)]


def test_qwen38_flash_next_pools_four_index_keys():
    """12 of 48 layers, a key of 128 per 4 tokens; the size is not confirmed, so the term has a range."""
    assert index("qwen3.8-flash-next") == 12 * 128 * 2 / 4
    answer = ask(model="qwen3.8-flash-next", gpu="h200-sxm", n=2)
    term = answer.term("index_keys")
    assert term.low < term.value < term.high
    assert term.basis == "rule"


def test_cross_attention_needs_nothing_for_text_and_an_image_with_vision():
    """Llama 3.2 11B: 8 layers × 2 × 8 × 128 × 2 B for up to 4 × 1601 encoder tokens, rounded up to llama.cpp's cells."""
    question = {"model": "llama-3.2-11b-vision-instruct", "gpu": "h200-sxm", "engine": "llama.cpp"}
    assert not ask(**question).has_term("kv_cross")
    term = ask(**question, vision=1).term("kv_cross")
    assert term.value == 8 * 4096 * 6656
    assert term.low == 8 * 4096 * 1792


def test_falcon_h1_has_keys_and_a_state_in_every_layer():
    answer = ask(model="falcon-h1r-7b", gpu="h200-sxm", engine="llama.cpp")
    assert answer.term("kv_gqa").factors["layers"] == 44
    assert answer.term("state_mamba2").value == 44 * 4 * (24 * 128 * 256 + 3 * (24 * 128 + 2 * 256))


def test_lightning_states_may_be_twice_as_wide():
    """MiniMax M1: 70 layers × 64 × 128 × 128; 16 bits by vLLM's default, 32 where the configuration says so."""
    term = ask(model="minimax-m1-80k", **H200, engine="vllm").term("state_lightning")
    assert term.low == 70 * 64 * 128 * 128 * 2 / 8
    assert term.high == 2 * term.low


def test_v4_pages_are_whole_multiples_of_576():
    """256 tokens of a layer with one entry per 4: 64 × 584 = 37,376 B, in a page of 37,440."""
    answer = ask(model="deepseek-v4-pro", gpu="b200", n=8, kv="fp8", engine="vllm")
    pages = {term.factors["pool"]: term.factors["page_bytes"] for part in answer.memory.parts
             for term in part.terms if term.code == "kv_compressed"}  # fmt: skip
    assert pages == {4: 37_440, 128: 1_728}


def test_windows_of_raw_entries_hold_the_tokens_in_flight():
    answer = ask(model="deepseek-v4-pro", gpu="b200", n=8, kv="bf16", engine="vllm", ctx=65_536)
    term = answer.term("kv_raw_window")
    assert term.factors["blocks"] == -(-(127 + 2 * answer.configuration.knobs.batched_tokens) // 64) + 1
    assert term.low == 61 * 128 * 1024


@pytest.mark.parametrize("engine", ["vllm", "llama.cpp"])
def test_every_kind_has_its_bytes_in_every_engine(engine):
    """No model of the catalogue answers that its kind of layer is not computed yet."""
    for model in SNAPSHOT.models:
        answer = ask(model=model, gpu="b200", n=8, engine=engine)
        assert answer.estimate.memory is not None, (model, answer.estimate.reasons)
        assert answer.estimate.cache is not None


def test_an_entry_without_elements_stores_nothing():
    assert entry_bytes(CacheEntry("csa", 0, 0, None, index_elements=128), "fp8") == 0


# --- drafted tokens ---------------------------------------------------------------------------------------------------


def test_multi_token_prediction_is_loaded_only_with_speculation():
    """DeepSeek-V3: 684 489 845 504 with MTP, 671 026 419 200 without; FP8 blocks of the language model's average."""
    question = {"model": "deepseek-v3", **H200}
    assert ask(**question).part("draft") == 0
    term = ask(**question, mtp=1).term("mtp_weights")
    assert term.factors["weights"] == 684_489_845_504 - 671_026_419_200
    assert term.value == pytest.approx(13_463_426_304 / 8, rel=0.03)


def test_llama_cpp_keeps_a_state_for_each_drafted_token():
    """F32 rows × (1 + drafted): 2 and 6 drafts take 3 and 7 times (memory findings §2)."""
    question = {"model": "qwen3.5-27b", "gpu": "h200-sxm", "engine": "llama.cpp"}
    plain = ask(**question).part("recurrent_state")
    assert ask(**question, mtp=2).part("recurrent_state") == 3 * plain
    assert ask(**question, mtp=6).part("recurrent_state") == 7 * plain
