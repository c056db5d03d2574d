"""Checks that stages run in the order of the README's picture.

Reads what `fad-opt --mlir-print-ir-after-all --mlir-print-ir-after-change` prints, and prints
the stages of the passes that change the program, in the order in which each begins. A pass
belongs to the stage in whose folder of `lib` it is; the others, which serve several, to none.

Usage: check_stages.py ROOT < dump"""

import pathlib
import re
import sys


def read_picture(root):
    """The stages of the picture, in order."""
    text = (root / "README.md").read_text()
    (picture,) = re.findall(r"```mermaid\n(.*?)```", text, re.DOTALL)
    return re.findall(r"<b>(\w+)</b>", picture)


def find_folders(root):
    """The folder of each pass below `lib/Transforms` and its like, by the name that its
    declaration has in upper case. A stage may have rooms."""
    return {
        name: ("", *file.relative_to(root / "lib").parts)[:3][-1]
        for file in (root / "lib").rglob("*.cpp")
        for name in re.findall(r"^#define GEN_PASS_DEF_(\w+)", file.read_text(), re.MULTILINE)
    }


def main():
    root = pathlib.Path(sys.argv[1])
    picture, folders = read_picture(root), find_folders(root)
    passes = re.findall(r"IR Dump After (\w+) ", sys.stdin.read())
    stages = [folders.get(name.upper()) for name in passes]
    stages = [stage for stage in stages if stage in picture]
    begun = list(dict.fromkeys(stages))
    print("stages:", *begun)
    wrong = begun != sorted(begun, key=picture.index)
    # Candidates for the joint function are done before one of them is split.
    split = stages.index("Split")
    wrong |= any(picture.index(stage) < picture.index("Split") for stage in stages[split:])
    print("another order than the picture's" if wrong else "in the picture's order")
    sys.exit(wrong)


if __name__ == "__main__":
    main()
