"""Many processes and threads use one cache: concurrent.py PROGRAM PTX FOLDER."""

import os
import pathlib
import subprocess
import sys

program, ptx, folder = sys.argv[1:]
cache = pathlib.Path(folder, "cache")
texts = []
for number in range(3):
    texts.append(pathlib.Path(folder, f"{number}.ptx"))
    texts[-1].write_text(pathlib.Path(ptx).read_text() + f"// {number}\n")

loads = [f"load={text}" for text in texts] + ["function=axpy"]
command = [program, "threads=8", *loads * 4]
environment = {**os.environ, "FAD_CACHE_DIR": str(cache)}


def load_all():
    """Loads in eight processes, and damages what they have kept meanwhile."""
    processes = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    while any(process.poll() is None for process in processes):
        for entry in cache.glob("*.cubin"):
            content = entry.read_bytes()
            entry.write_bytes(content[: len(content) // 2])
    for process in processes:
        output = process.communicate()[0].splitlines()
        assert process.returncode == 0
        assert len(output) == 8 * len(loads) * 4
        failed = [line for line in output if not line.endswith(": success")]
        assert not failed, failed


for _ in range(5):
    load_all()

# Nothing else is left, and the next process finds all of it.
log = pathlib.Path(folder, "log")
subprocess.run([program, *loads], env=environment, check=True)
environment["FAD_FAKE_CUDA_LOG"] = str(log)
subprocess.run([program, *loads], env=environment, check=True)
assert "cuLink" not in log.read_text()
entries = sorted(entry.name for entry in cache.iterdir())
assert len(entries) == 3 and all(name.endswith(".cubin") for name in entries), entries
