"""The command line of a walk over models."""

import argparse
import logging
import os
import signal
import time
import warnings

import torch
import train


def _stop(*_):
    raise TimeoutError("takes too long")


def main(what, cases, check):
    """Checks those of `cases` that the command line names; the status of the process.

    A graph that fad leaves to PyTorch's partitioner is an error."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--every", type=int, default=1, help="of so many, one")
    parser.add_argument("--engine", default="eager")
    parser.add_argument("--inductor", nargs="+", default=[], help="names, for Inductor after these")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--limit", type=int, default=0, help="the seconds that each may take")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    warnings.filterwarnings("error", "fad leaves", RuntimeWarning)
    logging.disable(logging.WARNING)
    os.environ["HF_HUB_OFFLINE"] = "1"
    torch._dynamo.config.allow_rnn = True
    signal.signal(signal.SIGALRM, _stop)
    names = arguments.names or list(cases)[:: arguments.every]
    failed = []
    walked = [(name, arguments.engine) for name in names]
    walked += [(name, "inductor") for name in arguments.inductor]
    for name, engine in walked:
        start = time.process_time()
        torch.manual_seed(0)
        signal.alarm(arguments.limit)
        try:
            wrong = check(name, engine)
        except Exception as error:
            wrong = f"{type(error).__name__}: {str(error).strip()[:300]}"
        finally:
            signal.alarm(0)
        if wrong:
            failed.append(name)
            print(f"{name}: {wrong}", flush=True)
        if arguments.times:
            print(f"{name}: {time.process_time() - start:.1f} s", flush=True)
    print(
        f"{len(walked)} {what}, {len(failed)} failed; values differ by PyTorch's own compilation "
        f"in {len(train.OTHER)}; {len(train.REFUSED)} are errors without fad, too"
    )
    return bool(failed)
