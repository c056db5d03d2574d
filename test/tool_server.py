"""Programs that are loaded already, in tests: those of fad, and interpreters of Python that
have imported what scripts share.

To load MLIR's and LLVM's libraries takes most of the time of a small test, and PyTorch's five
seconds. A server does it once for each program: ToolServer/ToolServer.c is preloaded into a program,
and python_server.py is a program itself. A client that has the program's name asks it for a run
(ToolServer/ToolClient.c)."""

import os
import pathlib
import socket
import subprocess

TOOLS = ["fad-memory-report", "fad-opt", "fad-runner", "fad-translate"]
# Imports of the servers of Python: modules that scripts share and that start no thread.
NUMPY = ["numpy", "mpmath"]
FAD = [*NUMPY, "fad"]
TORCH = ["numpy", "torch", "torch._inductor.compile_fx", "first_graph"]
# These take another two seconds.
TRANSFORMERS = [
    *TORCH,
    *[
        f"transformers.models.{name}.modeling_{name}"
        for name in ("bert", "gpt2", "llama", "resnet")
    ],
]


class ToolServers:
    """The servers of this process and of those that it forks, with whose last they end.

    `prefix` is what the names of their sockets, which are in no folder, begin with: the value of
    FAD_TOOL_SERVERS for clients. `processes` are the servers by the names of their programs, and
    `pipe` is the end of the pipe that they end with."""

    def __init__(self):
        self.prefix = f"fad-tools-{os.getpid()}-{os.urandom(8).hex()}"
        self.processes = {}
        self.read, self.pipe = os.pipe()

    def start(self, name, command, environment):
        """Starts the server of one program."""
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"\0{self.prefix}-{name}")
            listener.listen(64)
            numbers = listener.fileno(), self.read
            self.processes[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**environment, "FAD_TOOL_SERVER": "%d,%d" % numbers},
                pass_fds=numbers,
                start_new_session=True,
            )

    def start_tools(self, folder, library):
        """Starts those of fad's programs in a folder; `library` is what ToolServer.c becomes."""
        for tool in TOOLS:
            self.start(tool, [os.path.join(folder, tool)], {"LD_PRELOAD": library})

    def start_python(self, name, python, environment, imports, whole=False):
        """Starts that of an interpreter, for clients with the interpreter in FAD_TEST_PYTHON."""
        server = pathlib.Path(__file__).with_name("python_server.py")
        options = ["--whole"] if whole else []
        self.start(name, [python, str(server), *options, *imports], environment)
