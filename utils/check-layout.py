"""Checks that the folders of the source are those that the pages describe.

The table of CONTRIBUTING.md has a row for each folder of `lib` with sources, and
each file includes headers of its own folder and of those above it alone. Headers in `lib`
are for the row that they are in, and rows inside of that; others use those in `include/fad`. The
picture in the README has a box for each folder that a program passes through. The table
of utils/README.md has each file and folder there.

The folders of the extension of `fad.torch.nest` have an order, too, in the README beside
them, and no modules of `fad` import each other in a circle, inside of functions or for
annotations either. The files of `fad.torch` named `_pytorch.py`, `_releases.py` and
`_inductor.py` alone have private names of PyTorch, and keys of the metadata of nodes.

Usage: check-layout.py ROOT"""

import ast
import pathlib
import re
import sys

# A header of `include/fad` belongs to the folder of `lib` of that name.
PUBLIC = pathlib.PurePath("include/fad")
# Programs pass through the folders of these.
STAGES = ("Transforms", "Codegen")
# The extension of `fad.torch.nest`, whose paths of `#include` begin there.
EXTENSION = pathlib.PurePath("python-bindings/fad/torch/eager/csrc")
# Modules of Python, which do not import each other in a circle, and the extension among them.
PYTHON, CORE = pathlib.PurePath("python-bindings/fad"), "fad._fad"
# The modules that use PyTorch.
PACKAGE = pathlib.PurePath("python-bindings/fad/torch")
# The files that alone use private names of PyTorch, and the modules of PyTorch that others import:
# its documentation has them. `_inductor.py` changes Inductor's own classes, of which it has all.
OWNERS = {
    PACKAGE / "_pytorch.py",
    PACKAGE / "_releases.py",
    PACKAGE / "compile" / "_inductor.py",
    PACKAGE / "compile" / "_pytorch.py",
    PACKAGE / "eager" / "_pytorch.py",
}
PUBLIC_TORCH = {
    "torch",
    "torch.compiler",
    "torch.fx",
    "torch.fx.experimental.proxy_tensor",
    "torch.fx.experimental.symbolic_shapes",
    "torch.nn.functional",
    "torch.overrides",
    "torch.profiler",
    "torch.utils.checkpoint",
}
# Functions and methods that take names.
ATTRIBUTES = {"getattr", "hasattr", "setattr", "delattr"}
LOOKUPS = {"get", "pop", "setdefault"}
# The key of a node's `meta` that PyTorch's documentation has, and the beginning of fad's own.
VALUE, MARK = "val", "fad_"
# Keys of dictionaries there are operators, private ones of PyTorch among them.
TABLES = PACKAGE / "_decompositions"
# Names for `torch.ops.aten` and `torch.ops.prims`, whose private operators are in graphs.
OPERATORS = {"aten", "prims", "torch.ops.aten", "torch.ops.prims", "torch.ops.fad"}
# Private names of the package and of Python.
OWN = {"_fad_mode", "_fad_nested", "_getframe", "_handle", "_plans", "_replace", "_unaligned"}
# A folder of shared parts is no stage.
SHARED = {"Utils", "Math"}


def find_folders(root):
    """Folders of `lib` with sources, as in `Transforms/Raise`."""
    return {
        path.parent.relative_to(root / "lib").as_posix() for path in (root / "lib").rglob("*.cpp")
    } - {"."}


def read_table(root):
    """Returns the folders of the table, in order."""
    text = (root / "CONTRIBUTING.md").read_text()
    return re.findall(r"^\| `lib/([\w/]+)` \|", text, re.MULTILINE)


def find_row(folder, table):
    """Returns the row for `folder`: its own, or that of a folder around it."""
    while folder not in table and "/" in folder:
        folder = folder.rpartition("/")[0]
    return folder


def resolve(root, file, included):
    """Returns the folder that `included` in `file` is in, and whether the header is private; None
    for those of others."""
    local = (file.parent / included).resolve()
    if local.is_file():
        folder = local.relative_to(root.resolve()).parent
    elif (root / "include" / included).is_file():
        folder = (pathlib.PurePath("include") / included).parent
    else:
        return None, False
    for start in (PUBLIC, pathlib.PurePath("lib")):
        if folder.is_relative_to(start):
            return folder.relative_to(start).as_posix(), start != PUBLIC
    return None, False


def check_includes(root, table):
    sources = [
        *(root / "lib").rglob("*.cpp"),
        *(root / "lib").rglob("*.h"),
        *(root / "include/fad").rglob("*.h"),
    ]
    for file in sorted(sources):
        start = root / ("lib" if file.is_relative_to(root / "lib") else PUBLIC)
        own = find_row(file.parent.relative_to(start).as_posix(), table)
        for included in re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE):
            folder, is_private = resolve(root, file, included)
            row = find_row(folder, table) if folder else own
            # The declarations of a folder around others, such as all passes, are theirs.
            if row == own or own.startswith(row + "/"):
                continue
            if row not in table or table.index(row) > table.index(own):
                yield (
                    f"{file.relative_to(root)}: includes {included}, of "
                    f"lib/{row}, which is not above lib/{own} in the table"
                )
            elif is_private:
                yield f"{file.relative_to(root)}: includes {included}, which is private to lib/{row}"


def read_layers(root):
    """Returns the order of the extension's folders: names of places in it, those of one place apart
    by |, as in "machine -> sequence -> interactive | deferred"."""
    (text,) = re.findall(
        r"^ *(\w+(?: (?:->|\|) \w+)+)$", (root / EXTENSION / "README.md").read_text(), re.MULTILINE
    )
    return [place.split(" | ") for place in text.split(" -> ")]


def check_extension(root):
    """Yields includes of folders that are not before the file's own; the files in none are
    after all of them."""
    base = root / EXTENSION
    if not base.is_dir():
        return
    place_of = {name: i for i, names in enumerate(read_layers(root)) for name in names}
    for folder in sorted({path.parent.name for path in base.glob("*/*.cpp")} ^ set(place_of)):
        yield f"{EXTENSION}/README.md: the folders and their order differ in {folder}"
    for file in sorted([*base.rglob("*.cpp"), *base.rglob("*.h")]):
        own = file.relative_to(base).parent.as_posix()
        for included in re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE):
            folder = included.rpartition("/")[0]
            if own in place_of and folder != own:
                if place_of.get(folder, len(place_of)) >= place_of[own]:
                    yield (
                        f"{EXTENSION}/{own}/{file.name}: includes {included}, which is not "
                        f"before {own} in the order of {EXTENSION}/README.md"
                    )


def find_modules(root):
    """Returns the modules of the package, by their names: their files."""
    modules = {}
    for file in sorted((root / PYTHON).rglob("*.py")):
        path = file.relative_to(root / PYTHON.parts[0]).with_suffix("")
        modules[".".join(path.parts).removesuffix(".__init__")] = file
    return modules


def find_imports(name, file, modules):
    """Returns the modules that a module imports anywhere."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".") if node.level else []
            parts = parts[: len(parts) + 1 - node.level] if node.level else parts
            start = ".".join([*parts, *filter(None, [node.module])])
            for each in node.names:
                inner = f"{start}.{each.name}"
                if inner != CORE:
                    found.add(inner if inner in modules else start)
    return (found & set(modules)) - {name}


def find_circles(edges):
    """Returns the sets of names that lead to each other, each sorted."""

    def reach(start):
        found, open_names = set(), [start]
        while open_names:
            for name in edges[open_names.pop()] - found:
                found.add(name)
                open_names.append(name)
        return found

    reached = {name: reach(name) for name in edges}
    return sorted(
        {
            tuple(sorted(other for other in reached[name] if name in reached[other]))
            for name in edges
            if name in reached[name]
        }
    )


def check_imports(root):
    modules = find_modules(root)
    if not modules:
        return
    circles = find_circles(
        {name: find_imports(name, file, modules) for name, file in modules.items()}
    )
    for circle in circles:
        yield f"{PYTHON}: {', '.join(circle)} import each other in a circle"


def is_private(name):
    return name.startswith("_") and name != "_" and not name.endswith("__")


def find_names(node, is_table):
    """Returns the expressions in `node` that may be names: those of `getattr` and the like, keys,
    or elements."""
    if isinstance(node, ast.Call):
        if ast.unparse(node.func) in ATTRIBUTES:
            return [] if ast.unparse(node.args[0]) in OPERATORS else node.args
        return node.args if getattr(node.func, "attr", None) in LOOKUPS else []
    if isinstance(node, ast.Dict):
        return [] if is_table else node.keys
    return [node.slice] if isinstance(node, ast.Subscript) else node.elts


def find_key(node):
    """Returns the key of a node's `meta` that the expression `node` reads or writes; None for
    others."""
    if isinstance(node, ast.Subscript):
        owner, key = node.value, node.slice
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", None) in LOOKUPS and node.args:
        owner, key = node.func.value, node.args[0]
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        owner, key = node.comparators[0], node.left
    else:
        return None
    text = getattr(key, "value", None)
    return text if getattr(owner, "attr", None) == "meta" and isinstance(text, str) else None


def find_private(tree, is_table=False):
    """Yields the lines of `tree` with private names of PyTorch, and the names."""
    for node in ast.walk(tree):
        key = find_key(node)
        if key and key != VALUE and not key.startswith(MARK):
            yield node.lineno, f"meta[{key!r}]"
            continue
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module]
            names += [each.name for each in node.names if is_private(each.name)]
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            # The others are the package's own.
            owner = ast.unparse(node.value)
            names = (
                [] if owner in OPERATORS | {"self", "cls", "super()"} else [f"{owner}.{node.attr}"]
            )
        elif isinstance(node, (ast.Call, ast.Dict, ast.Subscript, ast.Tuple, ast.List, ast.Set)):
            texts = [getattr(each, "value", None) for each in find_names(node, is_table)]
            names = [text for text in texts if isinstance(text, str) and text.isidentifier()]
        else:
            continue
        for name in names:
            is_torch = name.split(".")[0] in ("torch", "functorch")
            if name.split(".")[-1] in OWN or name.startswith("fad."):
                continue
            if is_private(name.split(".")[-1]) or (is_torch and name not in PUBLIC_TORCH):
                yield node.lineno, name


def check_private(root):
    for file in sorted((root / PACKAGE).rglob("*.py")):
        path = file.relative_to(root)
        if path not in OWNERS:
            is_table = path.is_relative_to(TABLES)
            for line, name in sorted(find_private(ast.parse(file.read_text()), is_table)):
                yield f"{path}:{line}: {name} is private to PyTorch, and for _pytorch.py alone"


def check_utils(root):
    """Yields what the table of utils leaves out, and what it has that is not there."""
    page = root / "utils" / "README.md"
    cells = re.findall(r"^\| ([^|]*) \|", page.read_text(), re.MULTILINE)
    listed = set(re.findall(r"`([\w.-]+)`", " ".join(cells)))
    names = {path.name for path in page.parent.iterdir() if path.name[0] not in "._"} - {page.name}
    for name in sorted(names - listed):
        yield f"utils/README.md: {name} is not in the table"
    for name in sorted(listed - names):
        yield f"utils/README.md: there is no {name}"


def check(root):
    table = read_table(root)
    folders = find_folders(root)
    for folder in sorted(folders):
        if find_row(folder, table) not in table:
            yield f"CONTRIBUTING.md: lib/{folder} is not in the table"
    for folder in table:
        if not any(each == folder or each.startswith(folder + "/") for each in folders):
            yield f"CONTRIBUTING.md: there is no lib/{folder}"
    picture = re.search(r"```mermaid\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
    boxes = set(re.findall(r"<b>(\w+)</b>", picture[1])) if picture else set()
    stages = {
        folder.split("/")[1]
        for folder in table
        if folder.startswith(tuple(f"{stage}/" for stage in STAGES))
    } - SHARED
    for stage in sorted(stages - boxes):
        yield f"README.md: the picture has no box for {stage}"
    for box in sorted(boxes - stages):
        yield f"README.md: there is no folder for the box {box}"
    yield from check_includes(root, table)
    yield from check_extension(root)
    yield from check_imports(root)
    yield from check_private(root)
    yield from check_utils(root)


def main():
    problems = list(check(pathlib.Path(sys.argv[1])))
    print(*problems, f"{len(problems)} problems", sep="\n")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
