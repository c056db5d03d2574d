"""Runs the code cells of a notebook, in order, and compares the text that they print with the
outputs that the notebook holds.

usage: check_notebook.py NOTEBOOK"""

import contextlib
import io
import json
import sys

notebook = json.load(open(sys.argv[1]))
assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
number = 0
for cell in notebook["cells"]:
    if cell["cell_type"] == "code":
        number += 1
        assert cell["execution_count"] == number, cell
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            # PyTorch looks for names of a model's module there.
            exec(compile("".join(cell["source"]), f"cell {number}", "exec"), globals())
        held = "".join(line for output in cell["outputs"] for line in output["text"])
        assert printed.getvalue() == held, f"cell {number} prints\n{printed.getvalue()}"
assert number > 3
