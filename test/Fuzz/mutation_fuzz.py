"""Runs the tools on inputs of the tests that were changed at random.

usage: mutation_fuzz.py --tools DIR --mlir-opt PATH --server LIBRARY [--count N]
                        [--seed N] [--keep DIR] FOLDER...

Every run ends with status 0, or with status 1 and an error; what passes make
verifies, and what fad-opt writes parses. What upstream's mlir-opt cannot parse
without a crash is left out, and so is what its own passes fail on. A run is a part of an .mlir file below the folders (what
`// -----` separates), changed as text or as bytecode, and a command with the options
of a RUN line, mostly of its own file. A seed names a run whatever the count. What
fails is printed with its seed, and without the lines that it does not need;
`--keep` writes it to a folder. Exits with 1 where something fails.
"""

import argparse
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from functools import partial
from pathlib import Path

from many_checks import run_checks
from mutations import Pool, TextMutator, mutate_bytes

TOOLS = ["fad-opt", "fad-memory-report", "fad-runner"]
PARSE = ["fad-opt", "--allow-unregistered-dialect"]
# The processor time in seconds, and the address space in bytes, of a run.
SECONDS, BYTES = 20, 8 << 30
# Inputs above this size say nothing that smaller ones do not.
LARGEST = 20000
# Options of RUN lines that decide about something else than passes.
IGNORED = re.compile(
    r"-?-(split-input-file|verify-diagnostics|o$|o=|out|stats|arg|cotangent|target=cuda"
    r"|check-gradients|show-dialects|help|list|version|mlir-timing|mlir-print-ir"
    r"|debug|run-reproducer|mlir-pass-pipeline-crash|dump|test-fad-break)"
)
# More time or memory than there is tells nothing where programs ask for it.
UNBOUNDED = re.compile(r"\b(scf|cf|affine)\.(for|while|br|cond_br|parallel|forall)\b|\d{3}|call")


class Server:
    """The tools, each loaded once."""

    def __init__(self, options, folder):
        self.folder = folder
        environment = dict(os.environ, LD_PRELOAD=os.path.abspath(options.server))
        environment |= {"FAD_RUN_SECONDS": str(SECONDS), "FAD_RUN_BYTES": str(BYTES)}
        # A stack of its own for every thread is address space.
        environment |= {"OMP_NUM_THREADS": "1"}
        paths = [os.path.abspath(os.path.join(options.tools, tool)) for tool in TOOLS]
        self.processes = {
            os.path.basename(path): subprocess.Popen(
                [path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=folder,
                env=environment,
                text=True,
            )
            for path in [*paths, options.mlir_opt]
        }

    def run(self, command, data):
        """The status, what was printed and the errors of a command on an input."""
        paths = [os.path.join(self.folder, name) for name in ("in.mlir", "out", "err")]
        Path(paths[0]).write_bytes(data)
        process = self.processes[command[0]]
        print("\t".join([*paths[1:], paths[0], *command[1:]]), file=process.stdin, flush=True)
        status = int(process.stdout.readline())
        output, errors = (Path(path).read_bytes() for path in paths[1:])
        return status, output, errors.decode(errors="replace")


def find_commands(text):
    """The commands of the RUN lines of a test, without what is not about passes."""
    commands = []
    for line in re.findall(r"RUN: *(.*)", re.sub(r"\\\n// RUN:", "", text)):
        for part in re.split(r"[|;]|&&|%\{\w+\}", line):
            match = re.search(r"\b(fad-opt|fad-memory-report|fad-runner)\b(.*)", part)
            # A script takes its own options after the tool.
            if not match or "python" in part[: match.start()]:
                continue
            try:
                words = shlex.split(match[2])
            except ValueError:
                continue
            words = [
                word
                for word in words
                if re.match("-+\\w", word) and "%" not in word and not IGNORED.match(word)
            ]
            if words and [match[1], *words] not in commands:
                commands.append([match[1], *words])
    return commands


class Corpus:
    def __init__(self, folders):
        self.inputs, commands = [], set()
        for folder in folders:
            for path in sorted(Path(folder).rglob("*.mlir")):
                text = path.read_text()
                own = find_commands(text)
                commands.update(map(tuple, own))
                for part in re.split(r"^// -----.*\n", text, flags=re.M):
                    part = re.sub(r"^ *//.*\n", "", part, flags=re.M).strip() + "\n"
                    if 1 < len(part) <= LARGEST:
                        self.inputs.append((part, own))
        self.commands = [list(command) for command in sorted(commands)]
        self.pool = Pool(part for part, _ in self.inputs)


def describe(status, errors):
    """The error in how a run ended, or nothing."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        late = number in (signal.SIGALRM, signal.SIGKILL, signal.SIGXCPU)
        return "does not end" if late else f"ends by {signal.Signals(number).name}"
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1):
        return f"ends with status {code}"
    # LLVM does not call it an error where an option has no such value.
    if code == 1 and "error: " not in errors and ": for the -" not in errors:
        return "fails without an error"
    return ""


class Fuzzer:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.corpus = Corpus(options.folders)
        self.local = threading.local()

    def server(self):
        if not hasattr(self.local, "server"):
            folder = tempfile.mkdtemp(dir=self.folder)
            self.local.server = Server(self.options, folder)
        return self.local.server

    def find_fault(self, command, data):
        """The error of a run, or nothing, and its output."""
        status, output, errors = self.server().run(command, data)
        fault = describe(status, errors)
        if fault:
            # Programs may be asked to work for long.
            late = fault == "does not end" and command[0] == "fad-runner"
            return "" if late or self.is_upstream(data) else fault, errors
        if command[0] != "fad-opt":
            return "", errors
        if status:
            # Where this changes something, the error is in the result of a pass.
            again = [*command, "--verify-each=false"]
            if self.server().run(PARSE, data)[0] == 0:
                unverified, _, _ = self.server().run(again, data)
                if os.WIFSIGNALED(unverified) or unverified == 0:
                    upstream = self.breaks_upstream(command, data)
                    return "" if upstream else "makes what does not verify", errors
            return "", errors
        status, _, errors = self.server().run(PARSE, output)
        return status and "writes what does not parse or verify", errors

    def is_upstream(self, data):
        """Whether upstream's parser or verifier ends by a signal, too."""
        command = ["mlir-opt", "--allow-unregistered-dialect"]
        return os.WIFSIGNALED(self.server().run(command, data)[0])

    def breaks_upstream(self, command, data):
        """Whether upstream's passes among those of a command fail on the input, too."""
        parse = ["mlir-opt", "--allow-unregistered-dialect"]
        passes = [option for option in command[1:] if "fad" not in option]
        run = self.server().run
        return run(parse, data)[0] == 0 and run([*parse, *passes], data)[0] != 0

    def make(self, seed):
        """The command and the input of a seed."""
        chance = random.Random(seed)
        text, own = chance.choice(self.corpus.inputs)
        if not own or chance.random() < 0.4:
            own = self.corpus.commands
        command = chance.choice(own)
        command = self.name_entry(command, text, chance)
        form = chance.random()
        if form < 0.4:
            options = ["--emit-bytecode"] if form < 0.2 else ["--mlir-print-op-generic"]
            status, output, _ = self.server().run(["fad-opt", *options], text.encode())
            if status == 0 and form < 0.2:
                return command, mutate_bytes(output, chance)
            text = text if status else output.decode()
        return command, self.mutate(text, chance).encode()

    def mutate(self, text, chance):
        """`text` after some changes. What does not parse shows little of the passes,
        so few of such changes stay."""
        mutator = TextMutator(self.corpus.pool, chance)
        for _ in range(chance.choice([1, 2, 2, 3, 5, 8])):
            changed = mutator.mutate(text)
            keeps = chance.random() < 0.07
            if keeps or self.server().run(PARSE, changed.encode())[0] == 0:
                text = changed
        return text

    @staticmethod
    def name_entry(command, text, chance):
        """The command for one of the functions of `text`."""
        functions = re.findall(r"^ *func\.func (?:public )?@(\w+)", text, re.M) or ["f"]
        name = chance.choice(functions)
        command = [re.sub(r"\bentry=\w+", f"entry={name}", word) for word in command]
        if command[0] == "fad-runner":
            command.append("--size=3")
        elif command[0] == "fad-opt":
            foreign = chance.random() < 0.5
            return command + ["--allow-unregistered-dialect"] * foreign
        entry = [] if len(functions) == 1 else [f"--entry={name}"]
        return [word for word in command if not word.startswith("--entry=")] + entry

    def minimize(self, command, data, fault):
        """`data` without lines that the fault does not need."""
        lines = data.split(b"\n")
        size, tries = len(lines) // 2, 0
        while size and tries < 400:
            start = 0
            while start < len(lines) and tries < 400:
                fewer = lines[:start] + lines[start + size :]
                tries += 1
                if self.find_fault(command, b"\n".join(fewer))[0] == fault:
                    lines = fewer
                else:
                    start += size
            size //= 2
        return b"\n".join(lines)

    def check(self, seed):
        """The error of the run of a seed, or nothing."""
        command, data = self.make(seed)
        if command[0] == "fad-runner" and UNBOUNDED.search(data.decode(errors="replace")):
            command = ["fad-opt", "--fad-nest", "--fad-to-cpu"]
        fault, errors = self.find_fault(command, data)
        if not fault:
            return ""
        if b"\0" in data:
            shown = f"bytecode of {len(data)} bytes"
        else:
            if fault != "does not end":
                data = self.minimize(command, data, fault)
            shown = data.decode(errors="replace")
        if self.options.keep:
            Path(self.options.keep, f"{seed}.mlir").write_bytes(data)
        first = "\n".join(errors.split("\n")[:3])
        return f"seed {seed}: {shlex.join(command)} {fault}\n{first}\n{shown}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True)
    parser.add_argument("--mlir-opt", required=True)
    parser.add_argument("--server", required=True, help="the library of ForkServer.c")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--keep", help="where to write what fails")
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    seeds = range(options.seed, options.seed + options.count)
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(options, folder)
        failed = run_checks(partial(fuzzer.check, seed) for seed in seeds)
    print(f"{options.count} runs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
