"""Time and kept bytes of activations in eager PyTorch: composed of operations, built in,
and on fad's kernels by fad.torch.elementwise.

A step is forward and backward. The forms of one activation take turns, each after a step
that is not measured, so that caches are alike, and each has the least of its times, in
seconds of the thread's processor. What is kept is what autograd
holds for a tensor that nothing else keeps."""

import argparse
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))

from records import format_records  # noqa: E402

ACTIVATIONS = ("gelu_tanh", "silu", "mish")
DTYPES = ("f32", "bf16", "f64")


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


def measure(arguments):
    # Before PyTorch reads it.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import torch

    import dropin_forms

    torch.set_num_threads(1)
    rows = []
    for name in arguments.activations:
        for dtype in arguments.dtypes:
            for size in arguments.elements:
                rows += dropin_forms.measure(name, size, dtype, arguments.repetitions)
    return {"torch": torch.__version__, "rows": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--activations", nargs="+", choices=ACTIVATIONS, default=ACTIVATIONS)
    parser.add_argument("--elements", nargs="+", type=int, default=[1000, 393216, 1 << 22])
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=["f32", "bf16"])
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--json", type=pathlib.Path, help="the file to write the figures to")
    parser.add_argument("--table", type=pathlib.Path, metavar="FILE", help="prints FILE")
    arguments = parser.parse_args()
    if arguments.table and not arguments.table.exists():
        parser.error(f"there is no file {arguments.table}")
    figures = json.loads(arguments.table.read_text()) if arguments.table else measure(arguments)
    print_table(figures["rows"])
    if arguments.json:
        arguments.json.write_text(format_records(figures) + "\n")


if __name__ == "__main__":
    main()
