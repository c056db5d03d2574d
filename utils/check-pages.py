#!/usr/bin/env python3
"""Checks the documentation of a checkout as a whole:

- every link to a file leads to one, and every link to a heading to a heading;
- docs/README.md links to every page of docs, and docs/mkdocs.yml lists it for the site, in
  the same order;
- every page with commands has a test that runs them;
- pages, descriptions of TableGen, comments of C++ and Python are spelled as in American
  English, and without phrases that readers did not understand;
- no comment of C++, Python, TableGen, CMake or the shell, and no docstring begins with "What",
  and none has "of what": a noun says more. That holds for the tests' Python, too;
- docstrings of functions begin with a verb, outside of tests."""

import ast
import pathlib
import re
import subprocess
import sys

FENCED = re.compile(r"^```(.*?)$.*?^```$", re.MULTILINE | re.DOTALL)
# One in a list, with the lines that belong to it.
NUMBERED = re.compile(r"^\d+\. .*\n(?: .*\n)*", re.MULTILINE)
LISTED = re.compile(r"^ *- .*: (\S+\.md)$", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
# A comment of C++; `//` in a string begins none, but costs nothing.
COMMENT = re.compile(r"//.*")
# British spellings that occur in such texts.
BRITISH = re.compile(
    r"\b\w*(?:behaviour|colour|favour|neighbour|honour|centre|labell|modell|artefact)\w*"
    r"|\b\w*(?:general|initial|linear|material|minim|normal|optim|recogn|serial|special|summar"
    r"|synchron|vector)is(?:e|es|ed|er|ing|ation)s?\b",
    re.IGNORECASE,
)
# Phrases that readers did not understand, each of which can be said in plain words.
DENIED = re.compile(
    r"could be moved(?: between memory and processor)? meanwhile|be in use meanwhile"
    r"|spread among zeros|backward, as it was written",
    re.IGNORECASE,
)
# Comments and docstrings that begin with a clause in place of a noun, and nouns of a clause.
BEGINNING = re.compile(
    r'(?:^|\s)(?://+|#+|/\*+)(?:===- \S+ -)?[ \t]*What\b|"""\s*What\b', re.MULTILINE
)
# Breaks of lines, behind which a comment begins anew.
JOINED = re.compile(r"\n[ \t]*(?:///?|#)?[ \t]*|\s+")
CLAUSE = re.compile(r"\bof what\b", re.IGNORECASE)
# Words with which a docstring begins that has a noun in the place of a verb.
NOUNS = {"A", "An", "The", "All", "Each", "Every", "How", "Those", "Where", "Whether", "Which"}
SCRIPTS = [
    "*.c",
    "*.cmake",
    "*CMakeLists.txt",
    "*.sh",
    "*.def",
    "*.map",
    "*.bash",
    "*.txt",
    "*/_fad",
]
# Its folders hold other texts.
DOCS = pathlib.Path("docs")
# Of the pages there; each should say what its reader needs.
WORDS = 30_000
OWN_PATH = pathlib.Path("utils/check-pages.py")
# Files that show such comments to the test of this script.
SAMPLES = pathlib.Path("test/Utils/Inputs/pages")
COMMANDS = {"sh", "python"}


def find_files(root, *patterns, others=("build", "test")):
    """Returns the files of such names that git tracks, or those there are where git knows none, but
    those in the folders `others`."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", *patterns], capture_output=True, text=True
    ).stdout.split()
    if not listed:
        listed = [path.relative_to(root) for name in patterns for path in root.rglob(name)]
    files = {pathlib.Path(name) for name in listed}
    return sorted(file for file in files if file.parts[0] not in others)


def read_prose(path):
    return FENCED.sub("", path.read_text())


def find_anchors(path):
    """Yields the names of a page's headings in links."""
    for heading in HEADING.findall(read_prose(path)):
        words = re.sub(r"[^\w\- ]", "", heading.lower())
        yield words.replace(" ", "-")


def check_links(root, page):
    """Yields the links of a page that lead nowhere."""
    for link in LINK.findall(read_prose(root / page)):
        if ":" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (root / page).parent / file if file else root / page
        if not target.exists():
            yield f"{page}: there is no {link}"
        elif anchor and anchor not in find_anchors(target):
            yield f"{page}: {file or page} has no heading {anchor}"


def check_contents(root, pages):
    """Yields the pages of docs that its table of contents leaves out."""
    contents = root / "docs" / "README.md"
    listed = {(contents.parent / link).resolve() for link in LINK.findall(read_prose(contents))}
    for page in pages:
        path = (root / page).resolve()
        if page.parent == DOCS and path not in {*listed, contents.resolve()}:
            yield f"docs/README.md: does not link to {page}"


def check_site(root, pages):
    """Yields the pages of docs that the site leaves out, those it has that are not there, and
    the first that is elsewhere than in docs/README.md. Its folder reference is
    made by the build."""
    site, contents = root / "docs" / "mkdocs.yml", root / "docs" / "README.md"
    listed = LISTED.findall(site.read_text())
    for page in pages:
        if page.parent == DOCS and str(page) not in listed:
            yield f"docs/mkdocs.yml: does not list {page}"
    for name in sorted(listed):
        if not name.startswith("reference/") and not (root / name).exists():
            yield f"docs/mkdocs.yml: there is no {name}"
    items = "".join(NUMBERED.findall(contents.read_text()))
    links = [(contents.parent / link).resolve() for link in LINK.findall(items)]
    numbered = [str(link.relative_to(root)) for link in links if link.is_relative_to(root)]
    numbered = [name for name in numbered if name in listed]
    ordered = [name for name in listed if name in numbered]
    for name, other in zip(numbered, ordered):
        if name != other:
            yield f"docs/mkdocs.yml: has {other} where docs/README.md has {name}"
            break


def read_words(path):
    """Returns the text of a file whose spelling counts: of C++, the comments."""
    if path.suffix == ".md":
        return read_prose(path)
    text = path.read_text()
    return "\n".join(COMMENT.findall(text)) if path.suffix in (".h", ".cpp") else text


def check_spelling(root, file):
    """Yields the words of a file that are spelled in the British way."""
    for word in BRITISH.findall(read_words(root / file)):
        yield f"{file}: '{word}' is spelled otherwise in American English"


def check_phrases(root, file):
    """Yields the phrases of a file that are denied. They may stand in a string, and go on in
    the next line, where a comment begins anew."""
    for phrase in DENIED.findall(JOINED.sub(" ", (root / file).read_text())):
        yield f"{file}: '{phrase}' is not plain; write what is meant"


def check_clauses(root, file):
    """Yields the comments of a file that have a clause where they should have a noun."""
    text = (root / file).read_text()
    for match in BEGINNING.finditer(text):
        line = text.count("\n", 0, match.end()) + 1
        yield f"{file}:{line}: a comment begins with 'What'; begin with a noun or a verb"
    for match in CLAUSE.finditer(JOINED.sub(" ", text)):
        yield f"{file}: '{match[0]}' is not plain; name the thing"


def check_docstrings(root, file):
    """Yields the functions of a file whose docstring begins with no verb. Properties are nouns."""
    for node in ast.walk(ast.parse((root / file).read_text())):
        if not isinstance(node, ast.FunctionDef):
            continue
        is_property = any("property" in ast.unparse(each) for each in node.decorator_list)
        word = (ast.get_docstring(node) or "Does").split()[0]
        if word in NOUNS and not is_property:
            yield f"{file}:{node.lineno}: the docstring begins with '{word}'; begin with a verb"


def check_tests(root, pages):
    """Yields the pages with commands that no test gives to check-doc.py."""
    tests = "".join(path.read_text() for path in root.glob("test/**/*.test"))
    for page in pages:
        fences = FENCED.findall((root / page).read_text())
        if COMMANDS & set(fences) and f"%fad_src_root/{page} " not in tests:
            yield f"{page}: has commands that no test runs"


def check_length(root, pages):
    """Yields the words that the pages of docs have above their limit, code and tables counted."""
    words = sum(len((root / page).read_text().split()) for page in pages if page.parent == DOCS)
    if words > WORDS:
        yield f"docs: {words} words on its pages, {words - WORDS} too many"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = find_files(root, "*.md")
    # This file has the words.
    sources = set(find_files(root, "*.td", "*.h", "*.cpp", "*.py")) - {OWN_PATH}
    faults = [fault for page in pages for fault in check_links(root, page)]
    faults += [fault for file in [*pages, *sorted(sources)] for fault in check_spelling(root, file)]
    faults += [fault for file in [*pages, *sorted(sources)] for fault in check_phrases(root, file)]
    scripts = set(find_files(root, *SCRIPTS))
    tests = set(find_files(root, "*.py", "*lit.cfg.py", others=["build"])) - {OWN_PATH}
    scripts |= {file for file in tests if SAMPLES not in file.parents}
    faults += [fault for file in sorted(sources | scripts) for fault in check_clauses(root, file)]
    faults += [
        fault
        for file in sorted(sources)
        if file.suffix == ".py"
        for fault in check_docstrings(root, file)
    ]
    faults += check_contents(root, pages)
    faults += check_site(root, pages)
    faults += check_tests(root, pages)
    faults += check_length(root, pages)
    for fault in faults:
        print(fault)
    print(f"{len(pages)} pages, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
