"""Prints the traces of activations under the paper's policy, and what is left."""

import torch
from activations import gelu, mish, silu

from fad.torch.eager import trace


def show(name, activation, **options):
    x = torch.randn(4, 8, requires_grad=True)
    weight = torch.randn(8, 8)
    kept = []

    def forward():
        y = activation(x)
        kept.append(y.grad_fn)
        y @ weight

    print(name)
    print("\n".join(trace(forward, **options)))
    node = kept[0]
    if node.name() == "FadBackward" and not options:
        assert node.next_functions[0][0].variable is x
        print("left: 1 tensor of 128 B, from the source")


show("SiLU", silu)
show("Mish", mish)
show("GELU", gelu)
show("one operator", torch.tanh)
for policy in ("auto", "fad"):
    show(f"deferred, {policy}", lambda x: torch.sin(silu(x)), engine="deferred", policy=policy)
    show(f"deferred operator, {policy}", torch.tanh, engine="deferred", policy=policy)
