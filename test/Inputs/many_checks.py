"""Parts that tests of many small programs share."""

import os
from concurrent.futures import ThreadPoolExecutor


def run_checks(checks):
    """Calls each of `checks`, which return what is wrong or nothing, as many at
    once as there are processors. Prints what is wrong, in their order; returns how
    many found something."""
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for fault in pool.map(lambda check: check(), checks):
            if fault:
                failed += 1
                print(fault, flush=True)
    return failed
