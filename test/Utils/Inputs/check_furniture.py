"""Checks the files that services of the repository read: how to cite, and forms of issues.

usage: check_furniture.py ROOT [--python]

With --python, the Python in the forms is run for a small model, too."""

import pathlib
import re
import sys
import tomllib

import yaml

CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def check_citation(root):
    """The paper is the same in both formats."""
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    if missing := {"cff-version", "message", "title", "authors"} - set(citation):
        yield f"CITATION.cff: lacks {sorted(missing)}"
    paper = citation["preferred-citation"]
    fields = dict(re.findall(r"(\w+) *= \{(.*)\}", (root / "CITATION.bib").read_text()))
    expected = {
        "title": paper["title"],
        "author": " and ".join(
            f"{each['family-names']}, {each['given-names']}" for each in paper["authors"]
        ),
        "booktitle": paper["collection-title"],
        "year": str(paper["year"]),
        "url": paper["url"],
    }
    if fields != expected:
        yield f"CITATION.bib: has {fields}, and CITATION.cff {expected}"


def check_form(path):
    """The form is one that GitHub takes, and asks for the machine."""
    form = yaml.safe_load(path.read_text())
    if missing := {"name", "description", "body"} - set(form):
        yield f"{path.name}: lacks {sorted(missing)}"
    fields = [each for each in form["body"] if each["type"] != "markdown"]
    if len({each["id"] for each in fields}) != len(fields):
        yield f"{path.name}: two fields have one id"
    for each in form["body"]:
        if each["type"] not in ("markdown", "textarea", "input", "dropdown", "checkboxes"):
            yield f"{path.name}: there is no field of type {each['type']}"
        needed = "value" if each["type"] == "markdown" else "label"
        if not each["attributes"].get(needed):
            yield f"{path.name}: a field lacks its {needed}"
    if "python -m fad doctor --json" not in path.read_text():
        yield f"{path.name}: does not ask for the output of python -m fad doctor --json"


def check_address(root):
    """The address of the project stands in one file, and in the command that installs a wheel."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    address = project["urls"]["Homepage"]
    texts = [*root.glob("*.md"), *root.glob("CITATION.*"), *root.glob(".github/**/*.yml")]
    for path in texts:
        if address in path.read_text().replace(f"--find-links {address}/releases", ""):
            yield f"{path.name}: has the project's address, which stands in pyproject.toml alone"
    for name, each in project["urls"].items():
        if not each.startswith(address):
            yield f"pyproject.toml: {name} is elsewhere than {address}"


def run_code(path):
    """Runs the Python of a form, for a small model."""
    from torch import nn, randn

    for text in CODE.findall(path.read_text()):
        names = {"model": nn.Sequential(nn.Linear(4, 8), nn.GELU()), "inputs": [randn(2, 4)]}
        exec("\n".join(line.strip() for line in text.splitlines()), names)


def main():
    root = pathlib.Path(sys.argv[1])
    forms = sorted(set(root.glob(".github/ISSUE_TEMPLATE/*.yml")))
    forms = [path for path in forms if path.stem != "config"]
    faults = [*check_citation(root), *check_address(root)]
    faults += [fault for path in forms for fault in check_form(path)]
    if "--python" in sys.argv:
        for path in forms:
            run_code(path)
    print(*faults, f"{len(forms)} forms, {len(faults)} faults", sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
