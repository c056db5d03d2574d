"""Estimates of peaks on a GPU that is not there are those of Inductor's schedules, but for 3%, for each
selection that a budget tries, and but for 0.1% for the fastest of models whose kernels Inductor has in
another order than the program, or as there, where its own would be higher: of BERT, with gradients of
embeddings, and of a ViT. So is that for a slowdown, but for 1%: of a block of a diffusion U-Net, whose
kernels would read the image for two convolutions at once. Within a budget of a GPT-2, the first
selection that is tried has its sums of rows in kernels of the values, and gradients that are added in
place.

usage: check_estimates_cuda.py [--every]

Without --every, the ViT and the GPT-2 are left out."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "benchmarks/compile"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "benchmarks/common"))

import fake_cuda
import torch
import torch.nn.functional as F
from check_inductor_peak import Gated
from chunk_steps import MESSAGES
from fad.torch.compile._backend import make_inner
from fad.torch.compile._peak import find_scheduled_peak, list_scheduled
from torch import nn
from traffic import QUICK, SIZES
from traffic_measure import make_model

SIZE, CLASSES, ROWS = 64, 4096, 2048


class Classified(nn.Module):
    """A gated layer and the loss of classes, of which a chunk has the logits and their cotangents: the
    kernel that picks logits of labels is behind the one that computes the cotangents."""

    def __init__(self):
        super().__init__()
        self.layer, self.head = Gated(SIZE), nn.Linear(SIZE, CLASSES, bias=False)

    def forward(self, x, labels):
        return F.cross_entropy(self.head(self.layer(x)), labels)


def list_estimates(module, inputs, **options):
    """Returns the peak of each schedule of a step of `module`, and the estimate of that."""
    MESSAGES.texts.clear()
    partitioner = fake_cuda.Kept(**options)
    fake_cuda.write(module, inputs, partitioner, make_inner(partitioner, {}))
    found = [re.match(r"(\d+) bytes at the scheduled .* of (\d+)", each) for each in MESSAGES.texts]
    # The selection that needs no budget has none.
    return [(int(each[1]), int(each[2])) for each in found if each and each[2] != "0"]


class Slow(fake_cuda.Kept):
    """Keeps the scheduled peaks of its own selections, and their estimates."""

    def __call__(self, *arguments, **options):
        self.pairs = []
        return super().__call__(*arguments, **options)

    def _schedule(self, parts, *arguments, is_stock=False):
        schedules = super()._schedule(parts, *arguments, is_stock=is_stock)
        if not is_stock:
            peak, _ = find_scheduled_peak(list_scheduled(*parts, schedules))
            self.pairs.append((peak, self.planned["peak"]))
        return schedules


def list_slow(name, sizes, slowdown):
    """Returns the peak of the last schedule for a `slowdown`, that of the selection that is taken, and
    the estimate of that."""
    model = make_model(name, sizes)
    partitioner = Slow(slowdown=slowdown)
    fake_cuda.write(model.module, model.inputs, partitioner, make_inner(partitioner, {}))
    return partitioner.pairs[-1:]


def find_wrong(pairs, error):
    return [pair for pair in pairs if abs(pair[1] / pair[0] - 1) > error]


def main():
    inputs = torch.randn(ROWS, SIZE), torch.randint(CLASSES, (ROWS,))
    pairs = list_estimates(Classified(), inputs, budget=1, chunks="auto")
    print(*MESSAGES.find("is computed in"), sep="\n")
    wrong = find_wrong(pairs, 0.03)
    print(f"{len(pairs)} estimates, wrong: {wrong}")
    if "--every" in sys.argv:
        model = make_model("gpt2", SIZES["gpt2"])
        within = list_estimates(model.module, model.inputs, budget=0.3, chunks="auto")
        wrong += find_wrong(within, 0.01)
        print(f"{len(within)} estimates of GPT-2, wrong: {wrong}")
    fastest = []
    names = ["bert", "vit"] if "--every" in sys.argv else ["bert"]
    for name in names:
        model = make_model(name, SIZES[name])
        # The last layers of a mean of squares have no chunks: their results take more bytes.
        fastest += list_estimates(model.module, model.inputs, budget=2**40, chunks="auto")
    more = find_wrong(fastest, 0.001)
    print(f"{len(fastest)} estimates of the fastest, wrong: {more}")
    slow = list_slow("unet", {**QUICK["unet"], "batch": 8, "pixels": 32}, 1.3)
    waiting = find_wrong(slow, 0.01)
    print(f"{len(slow)} estimate for a slowdown, wrong: {waiting}")
    is_short = len(pairs) < 3 or len(fastest) < len(names) or not slow
    return is_short or bool(wrong + more + waiting)


if __name__ == "__main__":
    sys.exit(main())
