"""The bytes of a block of a diffusion transformer on a GPU that is not there, by Inductor's schedule and
by the kernels that it writes: the gradient through its GELU is rounded in the kernel that computes it."""

import pathlib
import sys

from torch._inductor.scheduler import Scheduler

sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "benchmarks/compile"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "benchmarks/common"))

from check_schedule_cuda import SCHEDULES, write_kernels
from traffic import SIZES
from traffic_measure import measure

# The most bytes that kernels may move, and that may be saved, to stock's.
LIMITS = {"auto": (1.05, 0.6), "slowdown-1.0": (1.0, 0.75)}


def count(configuration):
    """Returns the bytes of kernels by the schedules of both parts and by their text, and those that
    are saved."""
    SCHEDULES.clear()
    found, _ = measure("dit", SIZES["dit"], configuration)
    scheduled = sum(schedule.traffic for schedule in SCHEDULES)
    return scheduled, found["forward"] + found["backward"], found["saved"]


def main():
    Scheduler._codegen = write_kernels
    stock = count("stock")
    is_right = True
    for configuration, (most, most_saved) in LIMITS.items():
        shares = [own / other for own, other in zip(count(configuration), stock, strict=True)]
        is_within = all(share <= most for share in shares[:2]) and shares[2] <= most_saved
        print(f"{configuration}: {is_within}, {', '.join(f'{share:.3f}' for share in shares)}")
        is_right &= is_within
    return not is_right


if __name__ == "__main__":
    sys.exit(main())
