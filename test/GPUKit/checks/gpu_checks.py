"""Checks of fad on a GPU: kernels of a kit, fad-runner, both engines of fad.torch.nest over random
programs and under autocast, masks of dropout under torch.compile, CUDA graphs, streams, several
devices, and kernels under compute-sanitizer.

Each line is a check, and the last one how many passed, failed and were skipped; a reason is beside
those that did not pass. The exit status is 0 where one passed and none failed. A group of checks is
a process of its own, so that a crash is a failure of one. --device cpu runs the checks that a GPU
has no part in, and --quick those of a few seconds."""

import argparse
import multiprocessing
import os
import pathlib
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# In a kit, all modules are beside this one.
ROOT = HERE.parents[2]
for folder in "benchmarks/common", "test/python/eager/Inputs":
    if (ROOT / folder).is_dir():
        sys.path.insert(1, str(ROOT / folder))

import kernel_checks
import torch_checks
from outcomes import Skip, Tally, run_here, work

# By name: what makes the checks, and how many seconds they may take.
GROUPS = {
    "kernels": (kernel_checks.list_kernels, 120),
    "runner": (kernel_checks.list_runner, 60),
    "saved": (torch_checks.list_saved, 60),
    "random": (torch_checks.list_random, 200),
    "autocast": (torch_checks.list_autocast, 60),
    "masks": (torch_checks.list_masks, 180),
    "graphs": (torch_checks.list_graphs, 90),
    "streams": (torch_checks.list_streams, 90),
    "devices": (torch_checks.list_devices, 90),
    "sanitizer": (kernel_checks.list_sanitizer, 120),
}
OUT_OF_TIME = "time is out"


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller checks")
    parser.add_argument("--seconds", type=float, default=470, help=(
        "in all; checks that are not done are skipped"))  # fmt: skip
    parser.add_argument("--random-seconds", type=float, default=8, help=(
        "for each kind of random programs"))  # fmt: skip
    parser.add_argument("--seed", type=int, help="of the first random program; default: any")
    parser.add_argument("--kernels", type=pathlib.Path, default=HERE / "kernels", help=(
        "folder of a kit of utils/pack-gpu-kit.py"))  # fmt: skip
    parser.add_argument("--runner", default="fad-runner")
    parser.add_argument("--sanitizer", default="compute-sanitizer")
    parser.add_argument("--together", action="store_true", help="one process for all")
    return parser.parse_args()


def describe(device):
    """The setting, as text; raises Skip where there is no such device."""
    try:
        import torch
    except (ImportError, OSError) as error:
        raise Skip(f"{error}; checks take PyTorch") from None
    if device == "cuda" and not torch.cuda.is_available():
        raise Skip("PyTorch finds no NVIDIA GPU; --device cpu checks what takes none")
    try:
        import fad.torch  # noqa: F401
    except (ImportError, OSError) as error:
        raise Skip(f"{error}; checks take fad, of a wheel or of a kit with the package") from None
    import figures

    name = torch.cuda.get_device_name() if device == "cuda" else figures.name_processor()
    versions = (f"{key} {value}" for key, value in figures.read_versions(device == "cuda").items())
    return f"{name}; {', '.join(versions)}"


def run_apart(group, options, tally, end):
    """Runs a group in a process, which may crash or hang, until `end`."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work_apart, args=(group, options, sender))
    process.start()
    sender.close()
    begin, names, why = time.monotonic(), [group], None
    limit = min(begin + GROUPS[group][1], end)
    while True:
        try:
            if receiver.poll(max(limit - time.monotonic(), 0)):
                message = receiver.recv()
            else:
                why = f"took more than {GROUPS[group][1]} s"
                stop(process)
        except EOFError:
            process.join()
            why = f"its process ended with {process.exitcode}"
        if why is not None or message is None:
            break
        names = tally.take(message, names)
    process.join()
    if limit == end < time.monotonic():
        tally.skip(names, OUT_OF_TIME)
    elif why is not None:
        tally.add("failed", names.pop(0) if names else group, why, time.monotonic() - begin)
        tally.skip(names, "the process had ended")


def stop(process):
    """Ends a process, with the programs that it runs."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.kill()


def work_apart(group, options, sender):
    os.setpgrp()
    work(group, GROUPS[group][0], options, sender.send)
    sender.send(None)


def main():
    options = parse_options()
    end, tally = time.monotonic() + options.seconds, Tally()
    os.environ.setdefault("OMP_NUM_THREADS", "1" if options.device == "cpu" else "4")
    try:
        print(describe(options.device), flush=True)
    except Skip as skip:
        tally.skip(options.only, str(skip))
        options.only = []
    status = None
    try:
        for group in options.only:
            if time.monotonic() > end:
                tally.skip([group], OUT_OF_TIME)
            elif options.together:
                run_here(group, GROUPS[group][0], options, tally)
            else:
                run_apart(group, options, tally, end)
    except KeyboardInterrupt:
        for process in multiprocessing.active_children():
            stop(process)
        tally.skip(options.only[options.only.index(group) :], "interrupted")
        status = 128 + signal.SIGINT
    tally.finish(status)


if __name__ == "__main__":
    main()
