"""Runs gpu_checks.py of a folder where nothing is right: each check has to fail. With the variable
CRASH, one check ends its process, another one hangs in a program that writes its process to that
file, and a third one comes behind a crash. With INTERRUPT, too, the one that hangs interrupts all.

usage: break_checks.py CHECKS ARGUMENTS..."""

import os
import signal
import subprocess
import sys

# Processes for groups import this file, too.
if __name__ == "__main__":
    sys.path.insert(0, sys.argv.pop(1))
import gpu_checks


def crash(options):
    yield "crash", os.abort
    yield "behind", lambda: None


def hang(options):
    yield "right", lambda: "a note"
    end = ""
    if "INTERRUPT" in os.environ:
        # Not before the outcome of the check before this one is in the output, which is a file.
        wait = "until grep -qs ^passed /dev/stdout; do sleep 0.01; done"
        end = f"{wait}; kill -INT {os.getppid()};"
    program = f"echo $$ > '{os.environ['CRASH']}'; {end} sleep 999"
    yield "hang", lambda: subprocess.run(["sh", "-c", program])


def break_gradient(tensor):
    return tensor * 1.25


def spoil():
    """Makes gradients, masks, saved bytes and searches wrong."""
    import check_random
    import torch

    import fad.torch
    import fad.torch.compile  # noqa: F401

    nest, saved_memory, compile = fad.torch.nest, fad.torch.saved_memory, torch.compile
    run = check_random.run

    def break_step(step):
        def call(*arguments):
            found = step(*arguments)
            last = found[-1] if isinstance(found, list) else found
            last.register_hook(break_gradient)
            return found

        return call

    def break_nest(*arguments, **keywords):
        nested = nest(*arguments, **keywords)
        return break_step(nested) if arguments else nested

    def break_run(program, nest=None, **keywords):
        loss, *gradients = run(program, *[nest] * (nest is not None), **keywords)
        return [loss + (nest is not None), *gradients]

    class Saved:
        def __init__(self, saved):
            self.bytes, self.resident, self.peak = saved.bytes, saved.resident, saved.bytes - 1

    fad.torch.nest = break_nest
    fad.torch.saved_memory = lambda *arguments: Saved(saved_memory(*arguments))
    torch.compile = lambda *arguments, **keywords: break_step(compile(*arguments, **keywords))
    check_random.run = break_run
    check_random.finds = lambda *arguments: False


if "CRASH" in os.environ:
    gpu_checks.describe = lambda device: device
    gpu_checks.GROUPS["kernels"], gpu_checks.GROUPS["runner"] = (crash, 60), (hang, 5)
elif __name__ == "__main__":
    spoil()
if __name__ == "__main__":
    # It may be ignored where this is started.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gpu_checks.main()
