#!/usr/bin/env python3
"""Times one training step (forward and backward, without the optimizer) of a
BERT and a ResNet: eager PyTorch, torch.compile, and fad by its own engine and through
IREE under several policies. Steps of all contenders alternate, so that what else the machine does
meets them alike. Prints the machine, versions, sizes and repetitions. `--memory` adds the
peak of a step: of PyTorch's allocator, and of fad's own engine as fad-runner measures it
and as fad reports it without running. `--json` keeps the models of other runs that the
file has; `--table` prints a file."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from importlib import metadata

import torch

import fad.torch
from fad.torch.compile._measure import measure_peak

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "common"))

from figures import name_processor  # noqa: E402

MIB = 1 << 20
POLICIES = {"fad": ("bp", "auto"), "iree": ("bp", "recompute", "fad")}
# Idle threads of OpenMP wait in loops for up to 0.2 seconds, which would slow down the
# next contender.
PAUSE = 0.3


def make_bert(options):
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(
        vocab_size=512,
        hidden_size=options.width,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=4 * options.width,
        max_position_embeddings=options.length,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",
    )
    model = BertForSequenceClassification(config).train()
    shape = (options.batch, options.length)
    words = torch.randint(config.vocab_size, shape)
    return model, {"input_ids": words, "labels": torch.randint(2, shape[:1])}


def make_resnet(options):
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(
        embedding_size=options.width // 4,
        hidden_sizes=[options.width // 4, options.width // 2],
        depths=[1, 1],
        layer_type="basic",
        num_labels=10,
    )
    model = ResNetForImageClassification(config).train()
    pixels = torch.randn(options.batch, 3, options.pixels, options.pixels)
    return model, {
        "pixel_values": pixels,
        "labels": torch.randint(10, (options.batch,)),
    }


def make_resnet50(options):
    from transformers import ResNetConfig, ResNetForImageClassification

    model = ResNetForImageClassification(ResNetConfig(num_labels=10)).train()
    pixels = torch.randn(options.batch, 3, options.pixels, options.pixels)
    return model, {
        "pixel_values": pixels,
        "labels": torch.randint(10, (options.batch,)),
    }


NAMES = {"fad": "own engine", "iree": "IREE"}
MODELS = {"bert": make_bert, "resnet": make_resnet, "resnet50": make_resnet50}
# The options that say how large each is.
SIZES = {
    "bert": ("batch", "width", "length"),
    "resnet": ("batch", "width", "pixels"),
    "resnet50": ("batch", "pixels"),
}


def make_plain(call, model, batch):
    """A step that `call`, the model or its compiled form, does."""

    def step():
        model.zero_grad()
        loss = call(**batch).loss
        loss.backward()
        return loss

    return step


def make_contenders(model, batch, options):
    """Functions that make the steps, by name."""
    contenders = {"eager": lambda: make_plain(model, model, batch)}
    if not options.without_compile:
        compiled = torch.compile(model)
        contenders["torch.compile"] = lambda: make_plain(compiled, model, batch)
    for engine in options.engines:
        for policy in POLICIES[engine]:
            if policy not in options.policies:
                continue

            def make(engine=engine, policy=policy):
                flags = options.flag if engine == "iree" else ()
                step = fad.torch.train_step(model, batch, policy=policy, engine=engine, flags=flags)
                return lambda: step(**batch)[0]

            contenders[f"fad, {NAMES[engine]}, {policy}"] = make
    return contenders


def time_contenders(contenders, options):
    """Milliseconds of each step, as a multiple of eager PyTorch's, too, and seconds to
    make and run it first."""
    steps, first, losses = {}, {}, {}
    for name, make in contenders.items():
        start = time.perf_counter()
        steps[name] = make()
        losses[name] = steps[name]().item()
        first[name] = time.perf_counter() - start
    times = {name: [] for name in steps}
    for _ in range(options.repetitions):
        for name, step in steps.items():
            time.sleep(PAUSE)
            start = time.perf_counter()
            step()
            times[name].append(1e3 * (time.perf_counter() - start))
    return {
        name: {
            "median_ms": statistics.median(times[name]),
            "least_ms": min(times[name]),
            # Neighbors in time: what slows down a round slows down both.
            "of_eager": statistics.median(
                own / eager for own, eager in zip(times[name], times["eager"])
            ),
            "first_s": first[name],
            "loss": losses[name],
        }
        for name in steps
    }


def measure_memory(model, batch, options):
    """The peaks of a step in bytes, by contender: of eager PyTorch, gradients included,
    and of fad's own engine. Parameters and inputs do not count."""
    plain = make_plain(model, model, batch)
    model.zero_grad()
    peaks = {"eager": {"measured": measure_peak(plain)}}
    model.zero_grad()
    exported = fad.torch.export(model, batch)
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "step.mlirbc")
        figures = pathlib.Path(folder, "figures.json")
        exported.module.write(str(program), bytecode=True)
        for policy in POLICIES["fad"] if "fad" in options.engines else ():
            if policy not in options.policies:
                continue
            # There are at least two words and labels: integers are 0 or 1 without --arg.
            command = [
                options.fad_runner,
                program,
                f"--entry={exported.entry}",
                f"--policy={policy}",
                "--wrt=" + ",".join(map(str, exported.wrt)),
                "--results=" + ",".join(map(str, exported.differentiated)),
                "--reuse-residuals",
                f"--stats-json={figures}",
            ]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            data = json.loads(figures.read_text())
            peaks[f"fad, own engine, {policy}"] = {
                key: data[key]["peak"] for key in ("measured", "estimated")
            }
    return peaks


def describe_machine():
    return {
        "processor": name_processor(),
        "cores": len(os.sched_getaffinity(0)),
        "threads of PyTorch": torch.get_num_threads(),
        "fad": fad.__version__,
        **{
            name: metadata.version(name) for name in ("torch", "iree-base-compiler", "transformers")
        },
    }


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "models",
        nargs="*",
        metavar="model",
        help="bert, resnet (two small stages) or resnet50; default: bert resnet",
    )
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--length", type=int, default=64, help="of BERT's sequences")
    parser.add_argument("--pixels", type=int, default=64, help="of ResNet's images")
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument(
        "--without-compile",
        action="store_true",
        help="leave out torch.compile, which takes long to start",
    )
    parser.add_argument(
        "--engines", nargs="+", choices=list(NAMES), default=list(NAMES), help="of fad"
    )
    parser.add_argument(
        "--policies",
        nargs="+",
        choices=sorted({each for names in POLICIES.values() for each in names}),
        default=sorted({each for names in POLICIES.values() for each in names}),
        help="of fad",
    )
    parser.add_argument("--flag", action="append", default=[], help="of iree-compile")
    parser.add_argument("--memory", action="store_true", help="measure peaks, too")
    parser.add_argument("--fad-runner", default="fad-runner", help="program for --memory")
    parser.add_argument("--json", type=pathlib.Path, help="file to add figures to")
    parser.add_argument("--table", type=pathlib.Path, metavar="FILE", help="prints FILE")
    options = parser.parse_args()
    options.models = options.models or ["bert", "resnet"]
    unknown = set(options.models) - set(MODELS)
    if unknown:
        parser.error(f"there is no model {', '.join(sorted(unknown))}")
    if options.repetitions < 1 or options.batch < 2:
        parser.error("--repetitions is to be 1 or more, and --batch 2 or more")
    if options.width < 4 or options.width % 4:
        parser.error("--width is to be a multiple of 4")
    return options


def read_figures(path, machine):
    """The figures of the file, which are to be of this machine, or none."""
    if path is None or not path.exists():
        return {"machine": machine, "models": {}}
    figures = json.loads(path.read_text())
    if figures["machine"] != machine:
        sys.exit(f"error: {path} has figures of another machine or version: {figures['machine']}")
    return figures


def print_machine(machine):
    for name, value in machine.items():
        print(f"{name}: {value}")


def print_model(name, entry):
    """Prints the figures of one model."""
    print()
    print(", ".join(f"{key} {value}" for key, value in entry["setting"].items()))
    has_peaks = any("peak_bytes" in row for row in entry["contenders"].values())
    head = f"{name:23} {'median ms':>10} {'least ms':>10} {'of eager':>9} {'first s':>8}"
    print(head + (f" {'peak MiB':>9} {'reported':>9}" if has_peaks else "") + "  loss")
    for contender, row in entry["contenders"].items():
        line = (
            f"{contender:23} {row['median_ms']:10.2f} {row['least_ms']:10.2f} "
            f"{row['of_eager']:9.3f} {row['first_s']:8.1f}"
        )
        if has_peaks:
            peaks = row.get("peak_bytes", {})
            for key in ("measured", "estimated"):
                line += f" {peaks[key] / MIB:9.1f}" if key in peaks else f" {'':9}"
        print(f"{line}  {row['loss']:.6f}")


def main():
    options = parse_arguments()
    if options.table:
        figures = json.loads(options.table.read_text())
        print_machine(figures["machine"])
        for name, entry in figures["models"].items():
            print_model(name, entry)
        return
    warnings.filterwarnings("ignore", module="torch")
    figures = read_figures(options.json, describe_machine())
    print_machine(figures["machine"])
    for name in options.models:
        torch.manual_seed(0)
        load = os.getloadavg()[0]
        model, batch = MODELS[name](options)
        peaks = measure_memory(model, batch, options) if options.memory else {}
        rows = time_contenders(make_contenders(model, batch, options), options)
        for contender, bytes_ in peaks.items():
            rows[contender]["peak_bytes"] = bytes_
        setting = {key: getattr(options, key) for key in SIZES[name]}
        setting |= {"repetitions": options.repetitions, "load before": round(load, 1)}
        figures["models"][name] = {"setting": setting, "contenders": rows}
        print_model(name, figures["models"][name])
        losses = [row["loss"] for row in rows.values()]
        if max(losses) - min(losses) > 1e-4 * abs(losses[0]):
            sys.exit(f"error: the losses of {name} differ")
        if options.json:
            options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except (fad.Error, OSError, subprocess.CalledProcessError) as failure:
        sys.exit(f"error: {failure}")
