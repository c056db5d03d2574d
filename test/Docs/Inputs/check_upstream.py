"""Runs the reproducers of a folder of issues, the first argument, in the folder that the second
names: the commands of each print the actual result that its page states."""

import os
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pages, folder = map(pathlib.Path, sys.argv[1:3])
folder.mkdir(parents=True)
names = sorted(set(pages.glob("*.md")) - {pages / "README.md"})
for page in names:
    text = page.read_text()
    blocks = dict(BLOCK.findall(text))
    (folder / f"{page.stem}.mlir").write_text(blocks["mlir"])
    run = subprocess.run(
        ["bash", "-c", blocks["sh iree"]],
        cwd=folder,
        env={**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    printed = " ".join((run.stdout + run.stderr).split())
    actual = " ".join(blocks["text"].split())
    assert actual in printed, f"{page}: prints something else: {printed[:2000]}"
    (folder / "out.vmfb").unlink(missing_ok=True)
print(f"{len(names)} reproducers")
