#!/usr/bin/env python3
"""Makes the site of the documentation: gathers the pages of the checkout and the reference
of a build, and runs MkDocs on them, which refuses a link that leads nowhere.

The pages keep their places: what a page links to is found beside it, also the sources."""

import argparse
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import python_reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "LICENSE",
    "docs",
    "examples",
    "benchmarks",
    "utils",
)
UPSTREAM = ROOT / "docs" / "upstream"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
LISTED = re.compile(r"^ *- .*: (\S+\.md)$", re.MULTILINE)
FENCE = re.compile(r"^```(\w+)[^\n]*$", re.MULTILINE)
# A command that prints figures of a file, and rows of its output.
TABLE = re.compile(
    r"^```sh\n(python3 [^`]*--table[^`]*)```\n\n```text output\n([^`]*)```", re.MULTILINE
)
# A picture of the site alone: its file, its text, and the command that writes it.
PICTURE = re.compile(r"^<!-- picture (\S+): ([^\n]*)\n(.*?)-->$", re.MULTILINE | re.DOTALL)
# Programs and packages that commands of pictures need beside fad: a program, or a package of Python.
NEEDS = {"| dot ": "dot", "--plot": "matplotlib"}
# Pages that mlir-tblgen made, and the title that a page of passes lacks.
REFERENCE = {
    "FadDialect.md": None,
    "DerivativeOpInterface.md": None,
    "AdjointOpInterface.md": None,
    "FadTransformsPasses.md": "Passes from tensors to tensors",
    "FadCodegenPasses.md": "Passes of code generation",
    "FadPipelinesPasses.md": "Passes that run others",
    "FadRuntimePasses.md": "Passes of the runtime",
    "FadTransformOps.md": "Operations of schedules",
}
# The programs, and what their options are asked for by.
PROGRAMS = {
    "fad-opt": "--help",
    "fad-runner": "--help",
    "fad-memory-report": "--help",
    "fad-translate": "--help",
    "fad-reduce": "--help",
}


def run(command, build, **environment):
    """Return the output of a page's command, with the programs of `build` and of Python."""
    folders = f"{build / 'bin'}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=ROOT,
        env={**os.environ, "PATH": folders, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


def fill_table(match, build):
    """Return the command with its whole output, where the page shows rows of that."""
    if "..." not in match[2].splitlines():
        return match[0]
    return f"```sh\n{match[1]}```\n\n```text output\n{run(match[1], build).rstrip()}\n```"


def draw_picture(match, build, folder):
    """Return the link to a picture, which its command writes to `folder`, or nothing where the
    command lacks a program."""
    name, words, command = match.groups()
    for part, need in NEEDS.items():
        if part in command and not (shutil.which(need) or importlib.util.find_spec(need)):
            print(f"without the picture {name}, as there is no {need}", file=sys.stderr)
            return ""
    run(command, build, picture=str(folder / name))
    return f"![{words}]({name})"


def convert_page(path, folder, build):
    """Returns a page as MkDocs takes it: tables of figures are whole, pictures are drawn, only the
    language stays behind the fence of a block, and a link to a folder becomes its name. Copies to
    `folder` the other files it links to."""
    beside = folder / path.parent.relative_to(ROOT)
    text = TABLE.sub(lambda match: fill_table(match, build), path.read_text())
    text = PICTURE.sub(lambda match: draw_picture(match, build, beside), text)
    text = FENCE.sub(r"```\1", text)

    def convert_link(match):
        target = match[3].partition("#")[0]
        linked = path.parent / target
        if ":" in match[3] or not target or not linked.exists():
            return match[0]
        if linked.is_dir():
            return f"`{match[2].strip('`')}`"
        if linked.suffix != ".md":
            copy = folder / linked.resolve().relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(linked, copy)
        return match[0]

    return LINK.sub(convert_link, text)


def find_pages():
    """Yields the pages of the checkout, as paths relative to it. Texts for other projects are
    none."""
    for name in PAGES:
        path = ROOT / name
        pages = sorted(path.rglob("*.md")) if path.is_dir() else [path]
        yield from (page.relative_to(ROOT) for page in pages if page.parent != UPSTREAM)


def gather(folder, build):
    """Copies the pages, and the files that they link to, to `folder`."""
    for page in find_pages():
        target = folder / page
        target.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix == ".md":
            target.write_text(convert_page(ROOT / page, folder, build))
        else:
            shutil.copyfile(ROOT / page, target)


def list_options(build, program):
    """Returns the page on the options of a program, as it prints them."""
    run = subprocess.run(
        [build / "bin" / program, PROGRAMS[program]], capture_output=True, text=True, check=True
    )
    return f"# {program}\n\n```text\n{run.stdout.strip()}\n```\n"


def add_reference(build, folder):
    """Writes the reference to `folder`: what the build made, programs, and Python."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, title in REFERENCE.items():
        text = (build / "docs" / name).read_text().replace("[TOC]\n", "")
        if title:
            text = f"# {title}\n\n{text}"
        (folder / name).write_text(text)
    for program in PROGRAMS:
        (folder / f"{program}.md").write_text(list_options(build, program))
    python_reference.write_reference(ROOT / "python-bindings" / "fad", folder / "python")


def check_build(build):
    """Raises SystemExit where the build lacks what the site shows of it."""
    needed = [build / "docs" / name for name in REFERENCE]
    needed += [build / "bin" / name for name in PROGRAMS]
    missing = [str(path.relative_to(build)) for path in needed if not path.exists()]
    if missing:
        sys.exit(
            f"{build} lacks {', '.join(missing)}; build them and the site by\n"
            f"  cmake --build {build} --target fad-docs"
        )


def check_contents(work):
    """Raises SystemExit where the configuration lists other pages than there are. MkDocs says
    the same, and later."""
    listed = set(LISTED.findall((work / "mkdocs.yml").read_text()))
    pages = work / "pages"
    present = {str(path.relative_to(pages)) for path in pages.rglob("*.md")}
    faults = [f"docs/mkdocs.yml does not list {name}" for name in sorted(present - listed)]
    faults += [
        f"docs/mkdocs.yml lists {name}, which is not there" for name in sorted(listed - present)
    ]
    if faults:
        sys.exit("\n".join(faults))


def build_site(work):
    """Runs MkDocs on the pages that are gathered in the folder `work`."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    subprocess.run([*command, "--config-file", work / "mkdocs.yml"], check=True)
    if not os.environ.get("FAD_SITE_URL"):
        # A server shows it in place of pages of any folder, so that its links need the
        # address. MkDocs would take the site for the root of a server.
        (work / "site" / "404.html").unlink()
    print(f"the site: {work / 'site' / 'index.html'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the site's folder")
    parser.add_argument(
        "--check", action="store_true", help="check that the build is complete, and do no more"
    )
    options = parser.parse_args()
    check_build(options.build)
    if options.check:
        return
    work = options.out.resolve()
    shutil.rmtree(work, ignore_errors=True)
    gather(work / "pages", options.build.resolve())
    add_reference(options.build, work / "pages" / "reference")
    shutil.copyfile(ROOT / "docs" / "mkdocs.yml", work / "mkdocs.yml")
    check_contents(work)
    build_site(work)


if __name__ == "__main__":
    main()
