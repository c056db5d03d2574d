"""Time and kept bytes of activations in eager PyTorch: composed of operations, built in,
and on fad's kernels by fad.torch.elementwise.

A step is forward and backward. The forms of one activation take turns, each after a step
that is not measured, so that caches are alike, and each has the least of its times, in
seconds of the thread's processor. What is kept is what autograd
holds for a tensor that nothing else keeps."""

import argparse
import math
import os
import pathlib
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
import torch.nn.functional as F

import fad.torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "common"))

from records import format_records  # noqa: E402

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f64": torch.float64}


def compose_gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
    return 0.5 * x * (1.0 + torch.tanh(inner))


# Composed, and built in.
ACTIVATIONS = {
    "gelu_tanh": (compose_gelu, lambda x: F.gelu(x, approximate="tanh")),
    "silu": (lambda x: x * torch.sigmoid(x), F.silu),
    "mish": (lambda x: x * torch.tanh(F.softplus(x)), F.mish),
}


def make_forms(name):
    composed, built_in = ACTIVATIONS[name]
    # The composition as fad's own, as a user would write it.
    return {
        "composed": composed,
        "built in": built_in,
        "fad": fad.torch.elementwise(composed),
        "fad, derivative": fad.torch.elementwise(composed, keep="derivative"),
        "fad, 3 bits": fad.torch.elementwise(composed, derivative_bits=3),
    }


def measure_times(forms, x, repetitions):
    ones = torch.ones_like(x)
    least = dict.fromkeys(forms, math.inf)
    for _ in range(repetitions):
        for name, form in forms.items():
            torch.autograd.grad(form(x), x, ones)
            start = time.thread_time()
            torch.autograd.grad(form(x), x, ones)
            least[name] = min(least[name], time.thread_time() - start)
    return least


def count_kept(form, x):
    """Of a tensor that only the activation keeps, and whose result another operation
    keeps in any case."""
    with_result = fad.torch.saved_memory(lambda: torch.square(form(x * 1.0)), measure=False)
    alone = fad.torch.saved_memory(lambda: torch.square(x * 1.0), measure=False)
    return with_result.bytes - alone.bytes


def measure(name, size, dtype, repetitions):
    torch.manual_seed(0)
    x = torch.randn(size, dtype=DTYPES[dtype], requires_grad=True)
    forms = make_forms(name)
    times = measure_times(forms, x, repetitions)
    return [
        {
            "activation": name,
            "elements": size,
            "dtype": dtype,
            "form": form,
            "seconds": times[form],
            "to_composed": times[form] / times["composed"],
            "to_built_in": times[form] / times["built in"],
            "kept_a_element": count_kept(call, x) / size / DTYPES[dtype].itemsize,
        }
        for form, call in forms.items()
    ]


def print_table(rows):
    print(
        f"{'activation':<11}{'elements':>9} {'type':<5}{'form':<17}{'us':>9}"
        f"{'/composed':>10}{'/built in':>10}{'kept':>6}"
    )
    for row in rows:
        print(
            f"{row['activation']:<11}{row['elements']:>9} {row['dtype']:<5}{row['form']:<17}"
            f"{row['seconds'] * 1e6:>9.0f}{row['to_composed']:>10.2f}{row['to_built_in']:>10.2f}"
            f"{row['kept_a_element']:>6.2f}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--activations", nargs="+", default=list(ACTIVATIONS))
    parser.add_argument("--elements", nargs="+", type=int, default=[1000, 393216, 1 << 22])
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=["f32", "bf16"])
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--json", help="the file to write the figures to")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for name in arguments.activations:
        for dtype in arguments.dtypes:
            for size in arguments.elements:
                rows += measure(name, size, dtype, arguments.repetitions)
    print_table(rows)
    if arguments.json:
        with open(arguments.json, "w") as file:
            file.write(format_records({"torch": torch.__version__, "rows": rows}) + "\n")


if __name__ == "__main__":
    main()
