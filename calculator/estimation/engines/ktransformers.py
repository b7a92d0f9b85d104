"""KTransformers: SGLang with all routed experts in host memory (formulas §4.3, §6). PURE.

The plan keeps the experts on the host; its sum counts their bytes there.
"""

from __future__ import annotations

from calculator.estimation.configuration import Configuration
from calculator.estimation.engines import sglang
from calculator.estimation.terms import Reason

VOCABULARY_STEP = sglang.VOCABULARY_STEP
deal_layers = sglang.deal_layers
embedding_on_host = sglang.embedding_on_host
entry_layout = sglang.entry_layout
host_bytes = sglang.host_bytes
limit = sglang.limit
occupied = sglang.occupied
occupied_refusal = sglang.occupied_refusal
beyond_budget = sglang.beyond_budget
pool_block_bytes = sglang.pool_block_bytes
printed_tokens = sglang.printed_tokens
stage_cache = sglang.stage_cache
stage_overhead = sglang.stage_overhead
state_widths = sglang.state_widths
tensor_refusals = sglang.tensor_refusals


def refusals(configuration: Configuration) -> tuple[Reason, ...]:
    """What SGLang refuses, several nodes, and models without experts: nothing of them would stay on the host."""
    c, name = configuration, configuration.engine.name
    out = list(sglang.refusals(c))
    if not c.model.architecture.experts:
        out.append(Reason("needs_experts", {"engine": name, "model": c.model.name}))
    if c.plan.nodes > 1 or c.plan.pp > 1:
        out.append(Reason("one_machine_only", {"engine": name, "gpus": c.count}))
    return tuple(out)
