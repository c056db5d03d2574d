"""Checks the configuration of services that build and test fad elsewhere: the files are
YAML and JSON, each step does something, and each script or target that they call exists.

Usage: check_workflows.py ROOT"""

import json
import os
import pathlib
import re
import sys

import yaml

SCRIPT = re.compile(r"(?:^|[\s/])((?:utils|\.ci)/[\w./-]+)")


def check_command(root, name, command):
    for script in SCRIPT.findall(command):
        path = root / script
        if re.search(rf"python3? {re.escape(script)}", command):
            if not path.is_file():
                yield f"{name}: there is no {script}"
        elif not (path.is_file() and os.access(path, os.X_OK)):
            yield f"{name}: {script} is no program"
    for target in re.findall(r"--target ([\w-]+)", command):
        lists = [root / "CMakeLists.txt", *root.glob("*/CMakeLists.txt")]
        text = "".join(path.read_text() for path in lists if path.is_file())
        if not re.search(rf"\(\s*{target}\b", text):
            yield f"{name}: there is no target {target}"


def check_workflow(root, path):
    workflow = yaml.safe_load(path.read_text())
    # YAML 1.1 reads the key `on` as true.
    if not ({"on", True} & set(workflow)) or not workflow.get("jobs"):
        yield f"{path.name}: has no jobs or nothing that starts them"
    for job in workflow.get("jobs", {}).values():
        for step in job["steps"]:
            if ("run" in step) == ("uses" in step):
                yield f"{path.name}: a step has to run a command or use an action: {step}"
            elif "run" in step:
                yield from check_command(root, path.name, step["run"])
            elif not re.search(r"@v\d", step["uses"]):
                yield f"{path.name}: {step['uses']} names no version"


def check_starts(path):
    """A nightly workflow has a time; one started by hand needs no entry of the changelog."""
    text = path.read_text()
    starts = yaml.safe_load(text)[True]
    if path.stem == "nightly":
        if not starts.get("schedule"):
            yield f"{path.name}: has no time at which it starts"
        if "utils/test.sh --nightly" not in text:
            yield f"{path.name}: does not run utils/test.sh --nightly"
        script = path.parents[2] / "utils/test.sh"
        if script.is_file() and "--target check-fad-nightly" not in script.read_text():
            yield f"{path.name}: utils/test.sh does not build check-fad-nightly"
    if "release.py --build" in text and "workflow_dispatch" in starts and "--snapshot" not in text:
        yield f"{path.name}: release.py --build needs --snapshot where it is started by hand"


def check_subjects(entry):
    """The expression for subjects of commits, as pre-commit reads it, takes those of the form
    alone."""
    messages = {
        "[Residuals] Keep sizes of slices once\n\nRan the tests.\n": True,
        f"[Raise] Read {'x' * 58}\n": True,
        "[Raise] Re-read shapes\n": True,
        'Revert "[Raise] Read shapes"\n': True,
        f"[Raise] Read {'x' * 60}\n": False,
        "Keep sizes\n\n[Residuals] Keep sizes\n": False,
        "[residuals] Keep sizes\n": False,
        "[Residuals] keep sizes\n": False,
    }
    for message, is_taken in messages.items():
        if bool(re.search(entry, message, re.MULTILINE | re.DOTALL)) != is_taken:
            yield f".pre-commit-config.yaml: the subject is read wrongly: {message!r}"


def check(root):
    workflows = sorted((root / ".github/workflows").glob("*.yml"))
    names = {path.stem for path in workflows}
    for name in {"test", "packages", "docs", "nightly"} - names:
        yield f"there is no workflow {name}"
    for path in workflows:
        yield from check_workflow(root, path)
        yield from check_starts(path)
    hooks = root / ".pre-commit-config.yaml"
    for repository in yaml.safe_load(hooks.read_text())["repos"] if hooks.is_file() else []:
        if repository["repo"] != "local" and "rev" not in repository:
            yield f"{hooks.name}: {repository['repo']} names no version"
        for hook in repository["hooks"]:
            if hook["id"] == "subject":
                yield from check_subjects(hook["entry"])
            yield from check_command(root, hooks.name, hook.get("entry", ""))
    container = root / ".devcontainer/devcontainer.json"
    if container.is_file():
        command = json.loads(container.read_text())["postCreateCommand"]
        yield from check_command(root, container.name, command)


def main():
    faults = list(check(pathlib.Path(sys.argv[1])))
    print(*faults, f"{len(faults)} faults", sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
