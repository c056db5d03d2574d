"""Estimates of peaks on a GPU that is not there are those of Inductor's schedules, but for 3%, for each
selection that a budget tries."""

import re
import sys

import fake_cuda
import torch
import torch.nn.functional as F
from check_inductor_peak import Gated
from chunk_steps import MESSAGES
from fad.torch.compile._backend import make_inner
from torch import nn

SIZE, CLASSES, ROWS = 64, 4096, 2048


class Classified(nn.Module):
    """A gated layer and the loss of classes, of which a chunk has the logits and their cotangents: the
    kernel that picks logits of labels is behind the one that computes the cotangents."""

    def __init__(self):
        super().__init__()
        self.layer, self.head = Gated(SIZE), nn.Linear(SIZE, CLASSES, bias=False)

    def forward(self, x, labels):
        return F.cross_entropy(self.head(self.layer(x)), labels)


def main():
    partitioner = fake_cuda.Kept(budget=1, chunks="auto")
    inputs = torch.randn(ROWS, SIZE), torch.randint(CLASSES, (ROWS,))
    fake_cuda.write(Classified(), inputs, partitioner, make_inner(partitioner, {}))
    print(*MESSAGES.find("is computed in"), sep="\n")
    found = [re.match(r"(\d+) bytes at the scheduled .* of (\d+)", each) for each in MESSAGES.texts]
    # The selection that needs no budget has none.
    pairs = [(int(each[1]), int(each[2])) for each in found if each and each[2] != "0"]
    wrong = [pair for pair in pairs if abs(pair[1] / pair[0] - 1) > 0.03]
    print(f"{len(pairs)} estimates, wrong: {wrong}")
    return len(pairs) < 3 or bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
