"""What a request caches and keeps: bytes per token, states, layouts by cache type (methodology §3)."""

from dataclasses import replace

import pytest

from calculator.estimation.cache import (
    ELEMENT_BYTES,
    PER_HEAD_BYTES,
    entry_bytes,
    index_bytes_fp8,
    state_bytes,
)
from catalog.architecture.linear_attention import GatedDeltaNet
from catalog.architecture.state_space import Mamba2
from catalog.records import GIB, MIB
from tests.estimation.asking import architecture, ask

# Methodology §3.2.
BYTES_PER_ELEMENT = {
    "f32": 4, "bf16": 2, "fp8": 1, "q8_0": 1.0625, "q5_1": 0.75, "q5_0": 0.6875, "q4_1": 0.625, "q4_0": 0.5625,
    "iq4_nl": 0.5625, "nvfp4": 0.5625, "mlx-8bit": 1.0625, "mlx-4bit": 0.5625,
    "q8": 1.0625, "q6": 0.8125, "q4": 0.5625,
}  # fmt: skip


def test_an_element_of_each_type_takes_the_bytes_of_the_table():
    assert {name: float(size) for name, size in ELEMENT_BYTES.items()} == BYTES_PER_ELEMENT


def cached(model_id, kind):
    """The cache entry of the model's first layer of a mixer, by the mixer's name in the catalogue."""
    return next(
        entry
        for block in architecture(model_id).blocks
        for entry in block.mixer.caches()
        if entry.kind == kind
    )


def cache_of(**query):
    return ask(**query).estimate.cache


def test_w_3_1_llama_3_1_8b_caches_131_072_bytes_a_token():
    """2 · 8 · 128 · 32 · 2 B; 8192 tokens are 1.0 GiB (llama31_8b_kv_8192_bf16)."""
    cache = cache_of(model="llama-3.1-8b-instruct", ctx=8192)
    assert cache.bytes_per_token == 131_072
    assert cache.bytes_per_request == 1_073_741_824


W_3_2 = {"q8_0": 544, "q5_1": 384, "q5_0": 352, "q4_1": 320, "q4_0": 288}


@pytest.mark.parametrize(("cache_type", "mib"), W_3_2.items(), ids=W_3_2)
def test_w_3_2_llama_3_1_8b_at_8192_tokens_in_quantized_types(cache_type, mib):
    cache = cache_of(model="llama-3.1-8b-instruct", ctx=8192, kv=cache_type, engine="llama.cpp")
    assert cache.bytes_per_request == mib * MIB


@pytest.mark.parametrize(("cache_type", "size"), [("int8_per_token_head", 67_584), ("nvfp4", 36_864)])
def test_w_3_3_llama_3_1_8b_in_types_of_vllm(cache_type, size):
    cache = cache_of(gpu="h100-sxm", engine="vllm", kv=cache_type)
    assert cache.bytes_per_token == size


def test_w_3_4_deepseek_v3_caches_one_latent_a_token_and_layer():
    """576 · 61 · 2 B (dsv3_kv_token); as if MHA 71 times as much."""
    cache = cache_of(model="deepseek-v3", gpu="h200-sxm", n=8, ctx=131_072)
    assert cache.bytes_per_token == 70_272
    assert cache.bytes_per_request == 8.578125 * GIB
    assert round(128 * (192 + 128) * 61 * 2 / 70_272) == 71


@pytest.mark.parametrize(("cache_type", "size"), [("fp8", 48_068), ("bf16", 78_324)])
def test_w_3_5_deepseek_v3_2_keeps_an_index_key_beside_the_latent(cache_type, size):
    """fp8 (656 + 132) · 61 (dsv32_kv_token_fp8), bf16 (1152 + 132) · 61."""
    cache = cache_of(model="deepseek-v3.2", gpu="h200-sxm", n=8, kv=cache_type)
    assert cache.bytes_per_token == size
    assert cache.index_bytes_per_token == 132 * 61


def test_an_indexed_latent_in_nvfp4_takes_352_bytes():
    cache = cache_of(model="deepseek-v3.2", gpu="b200", n=8, kv="nvfp4")
    assert cache.bytes_per_token == (352 + 132) * 61


@pytest.mark.parametrize("model_id", ["kimi-k3", "kimi-k3.1-pro"])
def test_w_3_6_kimi_caches_27_648_bytes_of_latent_a_token(model_id):
    """kimi_mla_token: 24 MLA layers · 576 · 2 B."""
    cache = cache_of(model=model_id, gpu="h100-sxm", n=32)
    assert cache.bytes_per_token - cache.index_bytes_per_token == 27_648


@pytest.mark.parametrize(
    ("tokens", "gib"), [(8192, 0.2109375), (32_768, 0.84375), (131_072, 3.375), (1_048_576, 27.0)]
)
def test_w_3_6_the_latent_of_kimi_by_context(tokens, gib):
    """llama.cpp rounds to 256 cells, so these contexts are exact."""
    answer = ask(model="kimi-k3", gpu="cpu-ddr4-desktop", ctx=tokens)
    assert answer.part("kv_cache") == gib * GIB


def test_w_3_6b_the_index_of_kimi_k3_1_pro():
    """kimi_k31_index_token: vLLM 24 · 132 B, llama.cpp in 16 bits 24 · 256 B; at 1 048 576 tokens 3.09375 and 6.0 GiB."""
    servers = cache_of(model="kimi-k3.1-pro", gpu="h100-sxm", n=32, engine="vllm")
    files = cache_of(model="kimi-k3.1-pro", gpu="h100-sxm", n=8, engine="llama.cpp")
    assert (servers.index_bytes_per_token, files.index_bytes_per_token) == (3168, 6144)
    assert servers.index_bytes_per_token * 1_048_576 == 3.09375 * GIB
    index = ask(model="kimi-k3.1-pro", engine="llama.cpp", ctx=1_048_576).part("index_cache")
    assert index == 6.0 * GIB


def test_w_3_6c_fp8_packs_a_sparse_latent_and_halves_a_dense_one():
    """K3 24 · 576 B; K3.1 Pro 24 · 656 + 3168 B: at 1 048 576 tokens 13.5 and 18.46875 GiB."""
    dense = cache_of(model="kimi-k3", gpu="h100-sxm", n=32, kv="fp8").bytes_per_token
    sparse = cache_of(model="kimi-k3.1-pro", gpu="h100-sxm", n=32, kv="fp8").bytes_per_token
    assert dense * 1_048_576 == 13.5 * GIB
    assert sparse * 1_048_576 == 18.46875 * GIB


@pytest.mark.parametrize(("engine", "size"), [("vllm", 449_372_160), ("llama.cpp", 464_633_856)])
@pytest.mark.parametrize("model_id", ["kimi-k3", "kimi-k3.1-pro"])
def test_w_3_7_the_state_of_69_kda_layers(model_id, engine, size):
    """kimi_kda_state: 96 heads · 128² in FP32 and the convolution's tail in 16 (vLLM) or 32 bits (llama.cpp)."""
    cache = cache_of(model=model_id, gpu="h100-sxm", n=8, engine=engine)
    assert cache.state_bytes_per_request == size


def test_w_3_7_one_kda_layer():
    state = next(entry for block in architecture("kimi-k3").blocks for entry in block.mixer.states())
    assert state_bytes(state, 4, 2) == 96 * 128**2 * 4 + 3 * 96 * 128 * 3 * 2 == 6_512_640
    assert 69 * state_bytes(state, 2, 2) == 232_316_928
    assert state_bytes(state, 4, 2, shards=8) == 814_080


def test_w_3_12_the_cache_and_state_of_qwen3_next():
    """12 GQA layers of 2 × 256: 24 576 B a token; 36 Gated DeltaNet layers: qwen3next_state_vllm in 16 bits, llama.cpp
    in FP32."""
    vllm = cache_of(model="qwen3-next-80b-a3b-instruct", gpu="h100-sxm", n=2, engine="vllm")
    llamacpp = cache_of(model="qwen3-next-80b-a3b-instruct", engine="llama.cpp")
    assert vllm.bytes_per_token == llamacpp.bytes_per_token == 24_576
    assert vllm.state_bytes_per_request == 39_518_208 == 36 * 1_097_728
    assert llamacpp.state_bytes_per_request == 79_036_416


def test_w_3_13b_a_gated_delta_net_of_48_value_heads_in_fp32():
    mixer = GatedDeltaNet(key_heads=16, value_heads=48, key_head_dim=128, value_head_dim=128, conv_kernel=4)
    assert state_bytes(mixer.states()[0], 4, 2) == 3_207_168


def test_w_3_14_a_mamba_2_layer():
    mixer = Mamba2(heads=128, head_dim=64, state_size=128, groups=8, conv_kernel=4)
    assert state_bytes(mixer.states()[0], 4, 2) == 4_255_744


# Bytes per token in 16 bits and of index keys, derived from the layers' shapes (per-model table of cache kinds).
PER_TOKEN = {
    "qwen3.5-27b": (65_536, 0),
    "qwen3.8-2.4t-a95b": (94_208, 0),
    "deepseek-v3.2": (70_272, 8_052),
    "glm-5": (89_856, 10_296),
    "glm-5.2": (89_856, 2_772),
    "nemotron-3-nano-30b-a3b": (6_144, 0),
    "nemotron-3-ultra-550b-a55b": (12_288, 0),
    "granite-4.0-h-small": (16_384, 0),
    "gpt-oss-120b": (36_864, 0),
    "gemma-4-31b-it": (81_920, 0),
    "gemma-4-26b-a4b-it": (20_480, 0),
    "gemma-4-e2b-it": (6_144, 0),
    "mimo-v2-flash": (23_040, 0),
}


@pytest.mark.parametrize(("model_id", "sizes"), PER_TOKEN.items(), ids=PER_TOKEN)
def test_what_grows_with_the_context(model_id, sizes):
    cache = cache_of(model=model_id, gpu="h200-sxm", n=8, engine="vllm")
    assert (cache.bytes_per_token - cache.index_bytes_per_token, cache.index_bytes_per_token) == sizes


# State of one request with FP32 state and 16-bit convolution, MiB (per-model table of cache kinds).
STATES_MIB = {
    "qwen3.5-27b": 146.8,
    "qwen3.5-397b-a17b": 183.2,
    "qwen3.8-2.4t-a95b": 560.1,
    "nemotron-3-nano-30b-a3b": 46.8,
    "nemotron-3-ultra-550b-a55b": 389.1,
}


@pytest.mark.parametrize(("model_id", "mib"), STATES_MIB.items(), ids=STATES_MIB)
def test_the_state_of_models_that_ask_for_fp32(model_id, mib):
    cache = cache_of(model=model_id, gpu="h200-sxm", n=8, engine="vllm")
    assert round(cache.state_bytes_per_request / MIB, 1) == mib


def test_a_layer_that_reads_another_layers_cache_keeps_none():
    """Gemma 4 E2B: 20 of 35 layers share; 3 full layers are left of the 15 that do not."""
    groups = cache_of(model="gemma-4-e2b-it", gpu="h100-sxm").groups
    assert sum(group.layers for group in groups) == 15


def test_tensor_parallelism_divides_kv_heads_until_each_rank_has_one():
    """W-5.1: Llama 3 70B, 327 680 B a token; TP8 and TP16 both 40 960 B per GPU."""
    entry = cached("llama-3.1-70b-instruct", "gqa")
    assert [80 * entry_bytes(entry, "bf16", ranks) for ranks in (1, 8, 16)] == [327_680, 40_960, 40_960]


def test_tensor_parallelism_repeats_a_latent_on_every_rank():
    entry = cached("deepseek-v3", "mla")
    assert {entry_bytes(entry, "bf16", ranks) for ranks in (1, 2, 8, 16)} == {1152}


def test_a_scale_per_token_and_head_is_kept_for_keys_and_for_values():
    """8 heads · 128 elements, twice: 2048 B and 16 scales of 4 B."""
    entry = cached("llama-3.1-8b-instruct", "gqa")
    assert entry_bytes(entry, "fp8_per_token_head") == 2048 + 16 * 4
    assert entry_bytes(entry, "int4_per_token_head") == 1024 + 16 * 4
    assert entry_bytes(entry, "int8_per_token_head", shards=8) == 256 + 2 * 4


@pytest.mark.parametrize("cache_type", [*ELEMENT_BYTES, *PER_HEAD_BYTES])
def test_every_type_has_a_size_in_every_layout(cache_type):
    """Also where an engine refuses the combination: the estimate is still drawn."""
    for model_id, kind in (
        ("llama-3.1-8b-instruct", "gqa"),
        ("deepseek-v3", "mla"),
        ("deepseek-v3.2", "mla"),
    ):
        assert entry_bytes(cached(model_id, kind), cache_type) > 0


def test_an_index_key_is_one_byte_an_element_and_a_scale_per_128():
    entry = cached("deepseek-v3.2", "mla")
    assert index_bytes_fp8(entry) == 132
    assert index_bytes_fp8(replace(entry, index_elements=256)) == 264
    assert index_bytes_fp8(replace(entry, index_elements=0)) == 0
