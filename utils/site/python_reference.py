"""The reference of the Python package as Markdown, from its docstrings. The sources are
parsed and not imported, so that neither PyTorch nor a build has to be there."""

import ast
import pathlib
import re

# The modules for users, in the order of the reference.
MODULES = (
    "fad",
    "fad.plot",
    "fad.torch",
    "fad.torch.compile",
    "fad.torch.eager",
    "fad.torch.integrations",
    "fad.torch.nn",
    "fad.iree",
)
# Classes that C++ makes, which have no source to parse.
COMPILED = {"__version__": "The version of fad, as text."}
VALUES = (ast.Assign, ast.AnnAssign)
WIDTH = 88
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class MissingName(Exception):
    """A module exports a name that its sources do not define."""


def find_source(package, module):
    """Returns the file of `module`, such as "fad.torch", in the folder `package` of fad."""
    path = package.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def walk_statements(tree):
    """Yields the statements of a module, those inside of `if` and `try` included."""
    for statement in tree.body:
        yield statement
        if isinstance(statement, (ast.If, ast.Try)):
            yield from walk_statements(statement)


def read_exports(tree):
    """Returns the names of `__all__`, or the public definitions of a module without."""
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            # Names that the module computes have no source; its docstring describes them.
            return [each.value for each in statement.value.elts if isinstance(each, ast.Constant)]
    names = [each.name for each in tree.body if isinstance(each, DEFINITIONS)]
    return [name for name in names if not name.startswith("_")]


def find_definition(path, name):
    """Returns the definition of `name` in the file `path`, or where that imports it from; None for
    a module."""
    for statement in walk_statements(ast.parse(path.read_text())):
        if isinstance(statement, DEFINITIONS) and statement.name == name:
            return statement
        if isinstance(statement, VALUES) and name in ast.unparse(statement).partition("=")[0]:
            return statement
        if not isinstance(statement, ast.ImportFrom) or not statement.level:
            continue
        for alias in statement.names:
            if (alias.asname or alias.name) == name:
                folder = path.parents[statement.level - 1]
                if statement.module is None:
                    return None
                target = folder.joinpath(*statement.module.split("."))
                source = target / "__init__.py" if target.is_dir() else target.with_suffix(".py")
                return find_definition(source, alias.name)
    raise MissingName(f"{path}: {name} is exported and not defined")


def format_signature(name, node, is_method):
    """Returns the signature of a function, a line for each argument where it is long."""
    arguments = node.args
    if is_method and arguments.args:
        arguments = ast.parse(f"def f({ast.unparse(arguments)}): pass").body[0].args
        del arguments.args[0]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    whole = f"{name}({ast.unparse(arguments)}){returns}"
    if len(whole) <= WIDTH:
        return whole
    # Commas of the outermost level divide arguments.
    parts, depth, part = [], 0, ""
    for character in ast.unparse(arguments):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            parts.append(part.strip())
            part = ""
        else:
            part += character
    lines = "".join(f"    {each},\n" for each in [*parts, part.strip()])
    return f"{name}(\n{lines}){returns}"


def format_docstring(node):
    """Returns a docstring as Markdown: examples in `>>>` become blocks of code."""
    text = ast.get_docstring(node) or ""
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.startswith(">>>"):
            paragraph = f"```python\n{paragraph}\n```"
        paragraphs.append(paragraph)
    return "\n\n".join(paragraphs)


def has_decorator(node, name):
    return any(name in ast.unparse(each) for each in node.decorator_list)


def format_function(name, node, is_method=False):
    if has_decorator(node, "property"):
        kind = f" : {ast.unparse(node.returns)}" if node.returns else ""
        signature = name + kind
    else:
        signature = format_signature(name, node, is_method)
    return f"```python\n{signature}\n```\n\n{format_docstring(node)}\n"


def format_class(name, node):
    """Returns a class: its docstring, its fields, and its public methods that have one."""
    parts = [f"```python\nclass {name}\n```\n", format_docstring(node)]
    fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
    public = [each for each in fields if not each.target.id.startswith("_")]
    if has_decorator(node, "dataclass") and public:
        parts += ["| field | type |\n|---|---|"]
        for field in public:
            kind = ast.unparse(field.annotation).replace("|", "\\|")
            parts[-1] += f"\n| `{field.target.id}` | `{kind}` |"
    for each in node.body:
        if not isinstance(each, DEFINITIONS[1:]) or each.name.startswith("_"):
            continue
        if ast.get_docstring(each) is None:
            continue
        parts += [f"#### {node.name}.{each.name}\n", format_function(each.name, each, True)]
    return "\n\n".join(part for part in parts if part) + "\n"


def format_module(package, module):
    """Returns the page of `module`."""
    path = find_source(package, module)
    tree = ast.parse(path.read_text())
    sections = [f"# {module}\n", format_docstring(tree) + "\n"]
    for name in sorted(read_exports(tree), key=str.lower):
        if name in COMPILED:
            sections += [f"### {name}\n", COMPILED[name] + "\n"]
            continue
        try:
            node = find_definition(path, name)
        except MissingName:
            if f"{module}.{name}" in MODULES:
                node = None
            else:
                raise
        if node is None:
            sections += [f"### {name}\n", f"A [module of its own]({module}.{name}.md).\n"]
        elif isinstance(node, VALUES):
            sections += [f"### {name}\n", f"```python\n{ast.unparse(node)}\n```\n"]
        elif isinstance(node, ast.ClassDef):
            sections += [f"### {name}\n", format_class(name, node)]
        else:
            sections += [f"### {name}\n", format_function(name, node)]
    return "\n".join(sections)


def write_reference(package, folder):
    """Writes a page for each module to `folder`; returns the names of the files."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for module in MODULES:
        names.append(f"{module}.md")
        (folder / names[-1]).write_text(format_module(pathlib.Path(package), module))
    return names
