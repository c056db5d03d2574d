"""Trains convolutions for a step with `torch.compile(backend="fad")`: gradients have to
be those of PyTorch. A small filter is saved as a copy in another layout, a large one as
it is, and so is the first, of which backward needs the sizes alone. With a budget, all are
saved as they are."""

import sys
import warnings

import torch
from torch import nn

import fad.torch.compile  # noqa: F401, registers the backend


def run(model, call, x):
    model.zero_grad()
    loss = call(x).square().mean()
    node = loss.grad_fn
    while hasattr(node, "next_functions") and not hasattr(node, "_tensors_no_vc_check"):
        if not node.next_functions:
            break
        node = node.next_functions[0][0]
    saved = list(getattr(node, "saved_tensors", ()))
    loss.backward()
    return [parameter.grad.clone() for parameter in model.parameters()], saved


def main():
    warnings.simplefilter("error", RuntimeWarning)
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.GELU(approximate="tanh"),
        nn.Conv2d(8, 8, 3), nn.Mish(), nn.Conv2d(8, 64, 5), nn.Mish(),
    )  # fmt: skip
    x = torch.randn(4, 3, 12, 12)
    expected, _ = run(model, model, x)
    filters = [p for p in model.parameters() if p.dim() == 4]
    wrong = 0
    for options in {}, {"fad.budget": "1GB"}:
        torch._dynamo.reset()
        call = torch.compile(model, backend="fad", options=options)
        gradients, saved = run(model, call, x)
        worst = max(
            ((a - b).abs().max() / b.abs().max()).item() for a, b in zip(gradients, expected)
        )
        wrong += worst > 1e-5
        storages = {tensor.untyped_storage().data_ptr() for tensor in saved}
        names = []
        for weight in filters:
            is_kept = weight.untyped_storage().data_ptr() in storages
            count = sum(tensor.numel() == weight.numel() for tensor in saved)
            names.append(f"{'itself' if is_kept else 'copy'} x {count}")
        print(f"{options}: error {worst:.0e}; filters saved: {', '.join(names)}")
    print(f"{wrong} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
