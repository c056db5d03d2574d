"""torchtitan 0.3 without a GPU: the parts of its trainers that compile the blocks of a Llama,
and that mark the graph of a step by a memory policy and repeat operations in backward, with the
configurations of examples/trainers/with_torchtitan.py.

usage: check_torchtitan.py EXAMPLES"""

import copy
import sys
import types

import torch
import torch.nn.functional as F
from torchtitan.distributed.compile import apply_compile
from torchtitan.experiments.graph_trainer.common_utils import annotate_module_fqns
from torchtitan.experiments.graph_trainer.llama3 import model_registry
from torchtitan.experiments.graph_trainer.make_fx_tracer import minimal_fx_tracer, run_traced
from torchtitan.experiments.graph_trainer.memory_policy import tag_with_memory_policy_pass
from torchtitan.experiments.graph_trainer.passes import selective_activation_remat_pass
from torchtitan.experiments.graph_trainer.remove_noop_passes import (
    canonicalize_graph_pass,
    eliminate_dead_code_pass,
)
from torchtitan.experiments.graph_trainer.trainer import make_fwd_bwd_step

from fad.torch._saved_memory.allocator import watch_allocator
from fad.torch.integrations import register_memory_policy

# Policies of torchtitan, and of fad with a fraction of the peak.
POLICIES = {"full": None, "fad": None, "fad at 0.6": 0.6}


def make_model():
    # SDPA is torchtitan's for tests.
    config = model_registry("debugmodel", attn_backend="sdpa").model
    config.layers = config.layers[:3]
    with torch.device("meta"):
        model = config.build()
    model.to_empty(device="cpu")
    with torch.no_grad():
        model.init_states(buffer_device=None)
    return model.train(), torch.randint(0, config.vocab_size, (2, 4, 128))


def find_loss(logits, labels, global_valid_tokens=None):
    return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten())


def run_eagerly(model, ids, labels):
    loss = find_loss(model(ids), labels)
    return [loss.detach(), *torch.autograd.grad(loss, list(model.parameters()))]


def compare(name, found, expected, tolerance):
    close = all(torch.allclose(a, b, tolerance, tolerance) for a, b in zip(found, expected))
    print(f"{name}: {'right' if close else 'wrong'}")


def check_blocks(examples, model, ids, labels, expected):
    config = examples.llama3_compiled().compile
    compiled = copy.deepcopy(model)
    apply_compile(
        compiled, compile_config=config, parallel_dims=types.SimpleNamespace(tp_enabled=False)
    )
    compare("blocks", run_eagerly(compiled, ids, labels), expected, 1e-5)
    print("keys:", list(compiled.state_dict()) == list(model.state_dict()))


def trace(model, ids, labels):
    """The graph of a step, as torchtitan has it before a memory policy."""
    arguments = ids, labels, torch.tensor(1.0), {}
    traced = minimal_fx_tracer(make_fwd_bwd_step(model, find_loss), module=model)(*arguments)
    for change in (eliminate_dead_code_pass, canonicalize_graph_pass):
        traced.gm = change(traced.gm, traced.example_inputs)
    # Here, autograd's sums of gradients have the name of the loss, and torchtitan's pass would
    # take backward for a part of it.
    for node in traced.gm.graph.nodes:
        if node.meta.get("autograd_backward") and node.target is torch.ops.aten.add.Tensor:
            node.meta.pop("custom", None)
    return traced, arguments


def check_policies(examples, model, ids, labels, expected):
    annotate_module_fqns(model)
    config = examples.llama3_policy()
    peaks = {}
    for name, fraction in {"none": None, **POLICIES}.items():
        if name.startswith("fad"):
            register_memory_policy(name, fraction)
        config.compile.memory_policy = name
        traced, arguments = trace(model, ids, labels)
        if name != "none":
            traced.gm = tag_with_memory_policy_pass(traced.gm, config=config)
            traced.gm = selective_activation_remat_pass(traced.gm)
        run = run_traced(traced, module=model)
        found, allocated = watch_allocator(lambda: run(*arguments), on_gpu=False)
        compare(f"policy {name}", found, expected, 0)
        peaks[name] = allocated.peak
    print("peaks:", " < ".join(sorted(peaks, key=peaks.get)))
    print("within the budget:", peaks["fad at 0.6"] < 0.65 * peaks["none"])


def check_errors():
    for options in ({"fad.engine": "eager"}, {"fad.bugdet": 1}):
        try:
            register_memory_policy(options=options)
        except ValueError as error:
            print(f"ValueError: {error}")


def main(folder):
    sys.path.insert(0, folder)
    import with_torchtitan

    torch.manual_seed(0)
    model, (ids, labels) = make_model()
    expected = run_eagerly(model, ids, labels)
    check_blocks(with_torchtitan, model, ids, labels, expected)
    check_policies(with_torchtitan, model, ids, labels, expected)
    check_errors()


if __name__ == "__main__":
    main(*sys.argv[1:])
