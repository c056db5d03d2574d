"""Bytes that models under autocast keep for backward, and the processor's time of steps, of eager
PyTorch's, on one core; pairs of steps alternate.

usage: measure_mixed.py [PAIRS [CHANNELS [SEQUENCES]]], of 256 tokens"""

import statistics
import sys
import time

import mixed_models
import torch
from check_mixed import MODES, count_kept, nest
from cuda_autocast import CudaAutocast
from mixed_models import MODELS, make, sample

from fad.torch.eager import _kernels


def take_step(model, x, mode=None):
    start = time.process_time()
    with nest(mode), CudaAutocast():
        loss = model(x).float().square().mean()
    loss.backward()
    return time.process_time() - start


def main():
    pairs = int(sys.argv[1]) if sys.argv[1:] else 30
    mixed_models.WIDTH = int(sys.argv[2]) if sys.argv[2:] else 768
    mixed_models.BATCH = int(sys.argv[3]) if sys.argv[3:] else 8
    torch.set_num_threads(1)
    for name, (make_model, _) in MODELS.items():
        model, x = make(make_model), sample().requires_grad_()

        def run(x, model=model):
            with CudaAutocast():
                return model(x)

        eager = count_kept(run, x)
        for mode in MODES:
            for _ in range(3):
                take_step(model, x, mode)
                _kernels.wait()
            ratios = [take_step(model, x, mode) / take_step(model, x) for _ in range(pairs)]
            kept = count_kept(run, x, mode=mode) / eager
            print(f"{name} {' '.join(mode)}: {kept:.2f} of the bytes, ", end="")
            print(f"{statistics.median(ratios):.2f} of the time", flush=True)


if __name__ == "__main__":
    main()
