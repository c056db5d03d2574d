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
import contextlib
import os
import random
import re
import resource
import shlex
import signal
import socket
import sys
import tempfile
import threading
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tool_server
from many_checks import run_checks
from mutations import Pool, TextMutator, mutate_bytes
from tool_request import NUM_LIMITS, REQUEST, STATUS

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


class Runs:
    """Runs of the tools, each of which a server has loaded once (test/tool_server.py)."""

    def __init__(self, servers, folder):
        self.servers = servers
        self.folder, self.lost = folder, 0
        limits = {number: resource.getrlimit(number) for number in range(NUM_LIMITS)}
        limits |= {resource.RLIMIT_CPU: (SECONDS, SECONDS), resource.RLIMIT_AS: (BYTES, BYTES)}
        self.limits = [each for pair in limits.values() for each in pair]
        # A stack of its own for every thread is address space.
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.variables = [f"{name}={value}" for name, value in environment.items()]

    def run(self, command, data):
        """The status, what was printed and the errors of a command on an input."""
        # Those of a run that is being killed may still be written.
        paths = [Path(self.folder, f"{name}{self.lost}") for name in ("in", "out", "err")]
        paths[0].write_bytes(data)
        arguments = [command[0], str(paths[0]), *command[1:]]
        strings = "".join(text + "\0" for text in [*arguments, *self.variables]).encode()
        header = REQUEST.pack(
            len(strings), len(arguments), len(self.variables), 0o077, *self.limits
        )
        with contextlib.ExitStack() as files:
            streams = [files.enter_context(open(os.devnull))]
            streams += [files.enter_context(open(path, "wb")) for path in paths[1:]]
            folder = os.open(self.folder, os.O_PATH)
            files.callback(os.close, folder)
            server = files.enter_context(socket.socket(socket.AF_UNIX))
            # A run that waits for ever takes no processor time; it ends with the connection.
            server.settimeout(4 * SECONDS)
            try:
                server.connect(f"\0{self.servers.prefix}-{command[0]}")
                socket.send_fds(server, [header], [*(each.fileno() for each in streams), folder])
                server.sendall(strings)
                answer = server.recv(STATUS.size)
            except TimeoutError:
                status, self.lost = signal.SIGALRM, self.lost + 1
            else:
                if len(answer) < STATUS.size:
                    raise RuntimeError(f"the server of {command[0]} has ended")
                (status,) = STATUS.unpack(answer)
        output, errors = (path.read_bytes() for path in paths[1:])
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
        self.servers = tool_server.ToolServers()
        for path in [*(os.path.join(options.tools, tool) for tool in TOOLS), options.mlir_opt]:
            self.servers.start(
                os.path.basename(path), [path], {"LD_PRELOAD": os.path.abspath(options.server)}
            )
        self.corpus = Corpus(options.folders)
        self.local = threading.local()

    def run(self, command, data):
        if not hasattr(self.local, "runs"):
            self.local.runs = Runs(self.servers, tempfile.mkdtemp(dir=self.folder))
        return self.local.runs.run(command, data)

    def find_fault(self, command, data):
        """The error of a run, or nothing, and its output."""
        status, output, errors = self.run(command, data)
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
            if self.run(PARSE, data)[0] == 0:
                unverified, _, _ = self.run(again, data)
                if os.WIFSIGNALED(unverified) or unverified == 0:
                    upstream = self.breaks_upstream(command, data)
                    return "" if upstream else "makes what does not verify", errors
            return "", errors
        status, _, errors = self.run(PARSE, output)
        return status and "writes what does not parse or verify", errors

    def is_upstream(self, data):
        """Whether upstream's parser or verifier ends by a signal, too."""
        command = ["mlir-opt", "--allow-unregistered-dialect"]
        return os.WIFSIGNALED(self.run(command, data)[0])

    def breaks_upstream(self, command, data):
        """Whether upstream's passes among those of a command fail on the input, too."""
        parse = ["mlir-opt", "--allow-unregistered-dialect"]
        passes = [option for option in command[1:] if "fad" not in option]
        run = self.run
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
            status, output, _ = self.run(["fad-opt", *options], text.encode())
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
            if keeps or self.run(PARSE, changed.encode())[0] == 0:
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
    parser.add_argument("--server", required=True, help="the library of ToolServer.c")
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
