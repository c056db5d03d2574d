"""Compares scripts in processes of test/torch_python.py with the same in interpreters of
their own, and checks how clients, processes and servers end."""

import os
import pathlib
import signal
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(here.parents[2]))
import torch_python

# A module that no interpreter imports by itself, for the server to have.
SHARED = "wave"
ENVIRONMENT = {name: os.environ[name] for name in ["PATH", "HOME"] if name in os.environ}
WARM = f"import sys; print({SHARED!r} in sys.modules)"


def client(server, *arguments):
    return [sys.executable, "-I", "-S", torch_python.__file__, server, *arguments]


def run(command, folder, input="", **environment):
    result = subprocess.run(
        command,
        cwd=folder,
        env={**ENVIRONMENT, **environment},
        input=input,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return result.returncode, result.stdout, result.stderr


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
    folder = pathlib.Path(sys.argv[1]).resolve()
    server, pipe = torch_python.start(sys.executable, ENVIRONMENT, [SHARED])
    whole, _ = torch_python.start(sys.executable, ENVIRONMENT, [SHARED], whole=True)
    wrong = 0
    scripts = write_scripts(folder)
    for arguments, text, environment in scripts:
        own = run([sys.executable, *arguments], folder, text, **environment)
        for name in [server, whole]:
            served = run(client(name, *arguments), folder, text, **environment)
            if own != served:
                wrong += 1
                print(arguments, own, served, sep="\n")
    print(f"{len(scripts)} scripts, {wrong} wrong")

    own = []
    if run(client(server, "-c", WARM), folder, OMP_NUM_THREADS="3")[1] == "False\n":
        own.append("environment")
    if run(client(server, "-B", "-c", WARM), folder)[1] == "False\n":
        own.append("option")
    if run(client(server, "-"), folder, WARM)[1] == "False\n":
        own.append("input")
    (folder / "threaded.py").write_text(
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    )
    paths = {**ENVIRONMENT, "PYTHONPATH": str(folder)}
    threaded, _ = torch_python.start(sys.executable, paths, ["threaded"])
    if (
        run(client(threaded, "-c", "import sys; print('threaded' in sys.modules)"), folder)[1]
        == "False\n"
    ):
        own.append("thread")
    print("in an interpreter of its own:", ", ".join(own))

    run(client(server, "-c", "import os; os.kill(os.getpid(), 11)"), folder)
    print(
        "after a crash:",
        "served" if run(client(server, "-c", WARM), folder)[1] == "True\n" else "own",
    )

    sleeps = "import os, time; print(os.getpid(), os.getppid(), flush=True); time.sleep(600)"
    process = subprocess.Popen(
        client(server, "-c", sleeps), env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    )
    child, parent = map(int, process.stdout.readline().split())
    process.send_signal(signal.SIGTERM)
    process.wait()
    print("without its client:", wait_for_end(child))

    other, _ = torch_python.start(sys.executable, ENVIRONMENT, [SHARED])
    number = "import os; print(os.getppid())"
    apart = int(run(client(other, "-c", number), folder)[1]) != parent
    print("beside another server:", "apart" if apart else "together")

    os.close(pipe)
    print("without the pipe:", wait_for_end(parent))


if __name__ == "__main__":
    main()
