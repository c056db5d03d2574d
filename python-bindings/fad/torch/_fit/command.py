"""The command `python -m fad.torch.fit`."""

import argparse
import os
from collections.abc import Sequence

from .._requirements import torch
from ..compile._chunks import check_chunks
from .fake import DIMENSIONS
from .fit import PLANS, fit
from .optimizers import NAMES
from .report import check_picture

_DTYPES = ("float32", "bfloat16", "float16")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns the exit status: 1 where no plan fits, 2 for an error."""
    parser = _make_parser()
    options = parser.parse_args(arguments)
    # A configuration needs nothing of the network.
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        return _run(options)
    except (ImportError, TypeError, ValueError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fad.torch.fit",
        description="Says, before it runs, what a training step of a model of transformers takes in "
        "memory, and the largest batch that fits. Neither weights nor a GPU are needed. The exit "
        "status is 1 where no plan fits the memory.",
    )
    parser.add_argument(
        "model", help="a type such as gpt2, a class such as GPT2LMHeadModel, a config.json, or JSON"
    )
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="ENTRY=VALUE", help="changes the configuration"
    )
    parser.add_argument("--batch", type=int, default=1, help="rows of an input (1)")
    parser.add_argument("--length", type=int, default=512, help="tokens of a row (512)")
    parser.add_argument("--memory", help="such as 24GB; the largest batch is within it")
    parser.add_argument("--vary", choices=DIMENSIONS, default="batch", help="what is the largest")
    parser.add_argument("--optimizer", default="adamw", help=f"{', '.join(NAMES)} (adamw)")
    parser.add_argument("--dtype", choices=_DTYPES, default="float32", help="of weights (float32)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--plans", nargs="+", choices=PLANS, default=PLANS)
    parser.add_argument("--budget", help="a fad.budget, such as 8GB or 0.5, as one more plan")
    parser.add_argument("--chunks", default="auto", help="auto, off, or a number, of plans of fad")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--svg", metavar="FILE", help="draws the step to FILE")
    return parser


def _run(options: argparse.Namespace) -> int:
    for name in DIMENSIONS:
        size = getattr(options, name)
        if size < 1:
            raise ValueError(f"--{name} is {size}; give a number of at least 1")
    if options.svg:
        check_picture(options.svg)
    chunks = check_chunks(int(options.chunks) if options.chunks.isdecimal() else options.chunks)
    from .configurations import find_positions, make_inputs, make_model, read_configuration

    try:
        configuration = read_configuration(options.model, options.set)
    except (ImportError, TypeError, ValueError):
        raise
    except Exception as error:
        # transformers checks the types of entries by errors of its own.
        changes = f" with --set {' '.join(options.set)}" if options.set else ""
        raise ValueError(f"there is no configuration {options.model}{changes}: {error}") from error
    dtype = getattr(torch, options.dtype)
    model, labels = make_model(configuration, dtype)
    positions = find_positions(configuration)
    if model.main_input_name == "input_ids" and positions and options.length > positions:
        raise ValueError(
            f"--length is {options.length}, and the configuration has {positions} positions; take "
            f"--length={positions}, or --set max_position_embeddings={options.length}"
        )
    if options.vary == "length" and model.main_input_name != "input_ids":
        raise ValueError(
            f"--vary is length, and {type(model).__name__} takes {model.main_input_name} of one size; "
            "take --vary=batch"
        )
    answer = fit(
        model,
        make_inputs(model, labels, options.batch, options.length, dtype),
        memory=options.memory,
        optimizer=options.optimizer,
        budget=_read_budget(options.budget),
        chunks=chunks,
        vary=options.vary,
        plans=options.plans,
        device=options.device,
    )
    print(answer.to_json() if options.json else answer, end="\n" if options.json else "")
    if options.svg:
        try:
            answer.draw(options.svg)
        except OSError as error:
            raise ValueError(f"--svg is {options.svg}, which is not written: {error}") from error
    return int(answer.best is None)


def _read_budget(text: str | None) -> float | str | None:
    """Returns a fraction as a number, and other text as it is."""
    try:
        return float(text) if text and "." in text else text
    except ValueError:
        return text
