"""Compares scripts in processes of test/python_server.py with the same in interpreters of
their own, and checks how clients, processes and servers end.

usage: check_python_server.py CLIENT FOLDER"""

import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(here.parents[2]))
import tool_server

# A module that no interpreter imports by itself, for the server to have.
SHARED = "wave"
ENVIRONMENT = {name: os.environ[name] for name in ["PATH", "HOME"] if name in os.environ}


def limit_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (77, 99))


class Interpreter:
    """An interpreter of its own for each script, or a client of a server's."""

    def __init__(self, command, environment):
        self.command = command
        self.environment = {**ENVIRONMENT, **environment}

    def run(self, folder, *arguments, input="", limit=None, **environment):
        result = subprocess.run(
            [self.command, *arguments],
            cwd=folder,
            env={**self.environment, **environment},
            input=input,
            capture_output=True,
            text=True,
            timeout=60,
            preexec_fn=limit,
        )
        return result.returncode, result.stdout, result.stderr

    def has_module(self, name, folder, *options, **others):
        command = f"import sys; print({name!r} in sys.modules)"
        code, output, errors = self.run(folder, *options, "-c", command, **others)
        assert code == 0 and output in ("True\n", "False\n"), (code, output, errors)
        return output == "True\n"


def start(client, environment, imports, whole=False):
    """An interpreter by a server, and the end of the pipe that the server ends with."""
    servers = tool_server.ToolServers()
    servers.start_python("python", sys.executable, environment, imports, whole)
    names = {"FAD_TOOL_SERVERS": servers.prefix, "FAD_TEST_PYTHON": sys.executable}
    return Interpreter(client, names), servers.pipe


def write_scripts(folder):
    """The arguments, the input and the environment of each script."""
    script = folder / "script.py"
    script.write_text("import helper, sys\nprint(__name__, __file__, sys.argv, sys.path[0])\n")
    (folder / "helper.py").write_text("print(__name__)\n")
    broken = folder / "broken.py"
    broken.write_text("def divide(x):\n    return 1 / x\n\n\ndivide(0)\n")
    (folder / "parts").mkdir()
    (folder / "parts" / "part.py").write_text("import sys\nprint(__name__, sys.argv[1:])\n")
    (folder / "wrong.py").write_text("x = (\n")
    at_exit = "import atexit; atexit.register(print, 'end'); print('begin')"
    later = "import threading; threading.Timer(0.1, print, ['later']).start(); print('begin')"
    of_c = "import ctypes; ctypes.CDLL(None).puts(b'of C'); print('begin', flush=True)"
    finalizer = (
        "import weakref\nclass Kept: pass\n"
        "kept = Kept(); weakref.finalize(kept, print, 'end'); print('begin')"
    )
    parts = str(folder / "parts")
    return [
        ([str(script), "a", "b c"], "", {}),
        (["script.py"], "", {}),
        ([str(broken)], "", {}),
        (["broken.py"], "", {}),
        (["wrong.py"], "", {}),
        (["missing.py"], "", {}),
        (["-c", "import sys; print(sys.argv, sys.path[0])", "a"], "", {}),
        (["-m", "part", "a"], "", {"PYTHONPATH": parts}),
        (
            ["-c", "import part, os; print(os.environ['FAD_X'])"],
            "",
            {"PYTHONPATH": parts, "FAD_X": "1"},
        ),
        (["-c", "import sys; print(sys.stdin.read()); print('e', file=sys.stderr)"], "text", {}),
        (["-c", "import os; print(os.getcwd(), oct(os.umask(0)))"], "", {}),
        (["-c", "import tempfile; print(tempfile.gettempdir())"], "", {"TMPDIR": parts}),
        (["-c", "import sys; sys.exit(7)"], "", {}),
        (["-c", "import sys; sys.exit('message')"], "", {}),
        (["-c", "import os; os.kill(os.getpid(), 11)"], "", {}),
        (["-c", "import os; os.abort()"], "", {}),
        (["-c", "import sys; sys.exit(263)"], "", {}),
        (["-c", at_exit], "", {}),
        (["-c", later], "", {}),
        (["-c", of_c], "", {}),
        (["-c", finalizer], "", {}),
        (["-c", "import os; os.write(1, b'x'); os._exit(3)"], "", {}),
        (["-c", "import resource; print(resource.getrlimit(7))"], "", {"limit": limit_files}),
        (["-c", "import sys; print('begin'); sys.stdout.close()"], "", {}),
        (["-c", "print('begin', flush=True); raise KeyboardInterrupt"], "", {}),
        (["parts"], "", {}),
        (["-c"], "", {}),
        (["-m", "no_such_module"], "", {}),
    ]


def wait_for_end(number):
    """Waits until no process has a number."""
    for _ in range(600):
        try:
            with open(f"/proc/{number}/stat") as file:
                # One that nobody has waited for has ended, too.
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return "ended"
        except OSError:
            return "ended"
        time.sleep(0.1)
    return "runs"


def main():
    client, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    own = Interpreter(sys.executable, {})
    served, pipe = start(client, ENVIRONMENT, [SHARED])
    whole, _ = start(client, ENVIRONMENT, [SHARED], whole=True)
    wrong = 0
    scripts = write_scripts(folder)
    for arguments, text, options in scripts:
        expected = own.run(folder, *arguments, input=text, **options)
        for each in [served, whole]:
            found = each.run(folder, *arguments, input=text, **options)
            if found != expected:
                wrong += 1
                print(arguments, expected, found, sep="\n")
    print(f"{len(scripts)} scripts, {wrong} wrong")
    print("served:", served.has_module(SHARED, folder))

    apart = []
    if not served.has_module(SHARED, folder, OMP_NUM_THREADS="3"):
        apart.append("environment")
    if not served.has_module(SHARED, folder, "-B"):
        apart.append("option")
    script = f"import sys; print({SHARED!r} in sys.modules)"
    if served.run(folder, "-", input=script)[1] == "False\n":
        apart.append("input")
    (folder / "threaded.py").write_text(
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    )
    threaded, _ = start(client, {**ENVIRONMENT, "PYTHONPATH": str(folder)}, ["threaded"])
    if not threaded.has_module("threaded", folder):
        apart.append("thread")
    print("in an interpreter of its own:", ", ".join(apart))

    served.run(folder, "-c", "import os; os.kill(os.getpid(), 11)")
    print("after a crash:", "served" if served.has_module(SHARED, folder) else "own")

    sleeps = "import os, time; print(os.getpid(), os.getppid(), flush=True); time.sleep(600)"
    process = subprocess.Popen(
        [client, "-c", sleeps], env=served.environment, stdout=subprocess.PIPE, text=True
    )
    child, parent = map(int, process.stdout.readline().split())
    process.send_signal(signal.SIGTERM)
    process.wait()
    print("without its client:", wait_for_end(child))

    other, _ = start(client, ENVIRONMENT, [SHARED])
    number = int(other.run(folder, "-c", "import os; print(os.getppid())")[1])
    print("beside another server:", "together" if number == parent else "apart")

    os.close(pipe)
    print("without the pipe:", wait_for_end(parent))
    print("without a server:", not served.has_module(SHARED, folder))


if __name__ == "__main__":
    main()
