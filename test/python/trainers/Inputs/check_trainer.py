"""transformers' Trainer with fad.torch.FadCallback, and without: the example
examples/trainers/with_trainer.py, which has LoRA, bf16, accumulated batches, evaluation
between steps and checkpoints.

usage: check_trainer.py EXAMPLES FOLDER [ENGINE]

The example's model has two equal layers; with the engine `eager`, it has one."""

import copy
import functools
import pathlib
import re
import shutil
import sys
import types
import warnings
from unittest import mock

import torch
from safetensors.torch import load_file
from transformers import LlamaConfig, LlamaForCausalLM

import fad.torch
from fad.torch.integrations import _step

SIZES = {"vocab_size": 16, "hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 1}
SIZES["num_attention_heads"] = 2
QUIET = {"use_cpu": True, "disable_tqdm": True, "save_total_limit": None}


def read_losses(trainer, name="loss"):
    return [entry[name] for entry in trainer.state.log_history if name in entry]


def compare(name, found, expected):
    worst = max(abs(a - b) / abs(b) for a, b in zip(found, expected, strict=True))
    print(f"{name}: {'right' if worst < 2e-4 else f'off by {worst:.1e}'}")


def read_keys(folder):
    return sorted(load_file(folder / "adapter_model.safetensors"))


def check_example(folder, engine):
    from with_trainer import train

    lines = []
    plain = train(folder / "plain", [], **QUIET)
    callback = fad.torch.FadCallback(
        "20GB", loss_alone=True, options={"fad.engine": engine}, log=lines.append
    )
    with mock.patch.object(_step, "backend", functools.partial(read_results, _step.backend)):
        compiled = train(folder / "fad", [callback], **QUIET)
    compare("losses", read_losses(compiled), read_losses(plain))
    compare("evaluations", read_losses(compiled, "eval_loss"), read_losses(plain, "eval_loss"))
    for line in lines:
        print(re.sub(r"[\d,.]+ MiB", "N MiB", line))
    report = callback.report
    print("report:", report.graphs, report.budget, 0 < report.kept < report.peak < 2**25)
    last = [folder / name / "checkpoint-4" for name in ("plain", "fad")]
    print("keys:", read_keys(last[0]) == read_keys(last[1]))
    # A second run starts from the checkpoint before the last.
    expected = read_losses(compiled)
    shutil.rmtree(last[1])
    resumed = train(folder / "fad", [callback], resume=True, **QUIET)
    compare("resumed", read_losses(resumed), expected)
    print("keys:", read_keys(last[0]) == read_keys(last[1]))
    check_afterwards(compiled.model)


def read_results(compile_graph, graph, inputs, **more):
    (output,) = graph.graph.find_nodes(op="output")
    kind = "training" if torch.is_grad_enabled() else "evaluation"
    shapes = [tuple(node.meta["example_value"].shape) for node in output.args[0]]
    print(f"results in {kind}: {shapes}")
    return compile_graph(graph, inputs, **more)


def check_afterwards(model):
    """The model is not compiled any more: another batch size has no graph."""
    called = []
    original = _step.backend
    _step.backend = lambda *arguments, **options: (
        called.append(1) or original(*arguments, **options)
    )
    ids = torch.zeros(3, 7, dtype=torch.long)
    result = model(input_ids=ids, labels=ids)
    result.loss.backward()
    _step.backend = original
    print(f"graphs afterwards: {len(called)}; logits {tuple(result.logits.shape)}")


def check_forward():
    """A model without logits is copied as it is, and has its own forward pass back at the end, where
    Trainer has begun twice, too."""
    model = LlamaForCausalLM(LlamaConfig(**SIZES))
    arguments = types.SimpleNamespace(torch_compile=False, label_smoothing_factor=0)
    state = types.SimpleNamespace(is_world_process_zero=True)
    callback = fad.torch.FadCallback(loss_alone=True, options={"fad.engine": "eager"})
    for _ in range(2):
        callback.on_train_begin(arguments, state, None, model=model)
    other = copy.deepcopy(model)
    ids = torch.zeros(1, 4, dtype=torch.long)
    expected = other.eval()(input_ids=ids).logits
    with torch.no_grad():
        model.lm_head.weight.zero_()
    print("a copy:", torch.equal(other(input_ids=ids).logits, expected) and expected.any().item())
    callback.on_train_end(arguments, state, None, model=model)
    print("forward afterwards:", "forward" in vars(model))


def check_checkpointing(folder, engine):
    from with_trainer import train

    lines = []
    options = {**QUIET, "gradient_checkpointing": True, "eval_strategy": "no"}
    plain = train(folder / "plain", [], **options)
    callback = fad.torch.FadCallback(options={"fad.engine": engine}, log=lines.append)
    compiled = train(folder / "fad", [callback], **options)
    compare("losses of a checkpointed model", read_losses(compiled), read_losses(plain))
    print(lines[0])


def check_errors(folder):
    from with_trainer import train

    def refuse(make):
        try:
            make()
        except (TypeError, ValueError) as error:
            print(f"{type(error).__name__}: {error}")

    refuse(lambda: fad.torch.FadCallback("20 parsecs"))
    refuse(lambda: fad.torch.FadCallback(1.5))
    refuse(lambda: fad.torch.FadCallback(0.5, options={"fad.budget": 0.5}))
    refuse(lambda: fad.torch.FadCallback(options={"fad.bugdet": 0.5}))
    options = {**QUIET, "torch_compile": True}
    refuse(lambda: train(folder, [fad.torch.FadCallback()], **options))
    options = {**QUIET, "label_smoothing_factor": 0.1}
    refuse(lambda: train(folder, [fad.torch.FadCallback(loss_alone=True)], **options))


def main(examples, folder, engine="eager"):
    sys.path.insert(0, examples)
    folder = pathlib.Path(folder)
    warnings.simplefilter("ignore", FutureWarning)
    if engine == "eager":
        import with_trainer

        with_trainer.LlamaConfig = lambda **sizes: LlamaConfig(**{**sizes, "num_hidden_layers": 1})
    check_example(folder / "example", engine)
    check_forward()
    check_checkpointing(folder / "checkpointing", engine)
    check_errors(folder / "errors")


if __name__ == "__main__":
    main(*sys.argv[1:])
