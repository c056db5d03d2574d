"""Runs a program once for each function of the driver, which fails, and prints the
first line of the program's message: fail_each.py PROGRAM ARGUMENTS..."""

import os
import subprocess
import sys

NAMES = """cuDevicePrimaryCtxRetain cuModuleLoadDataEx
cuModuleGetFunction cuStreamCreate cuEventCreate cuEventRecord cuStreamWaitEvent
cuMemAlloc cuMemAllocManaged cuMemsetD32Async cuMemsetD16Async cuMemcpyAsync
cuMemHostRegister cuMemHostUnregister cuStreamSynchronize cuStreamDestroy
cuEventDestroy cuMemFree""".split()

for name in NAMES:
    ran = subprocess.run(
        sys.argv[1:],
        env={**os.environ, "FAD_FAKE_CUDA_FAIL": f"{name}=999"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, (name, ran)
    errors = [line for line in ran.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, (name, ran)
    print(f"{name}: {errors[0][len('error: ') :]}")
    # It can be asked for, and is then forgotten.
    statuses = [line for line in ran.stdout.split("\n") if line.startswith("status ")]
    assert len(statuses) == 2, (name, ran)
    assert statuses[0] != "status 0" and statuses[1] == "status 0", (name, ran)
