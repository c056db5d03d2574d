"""Interpreters that have imported PyTorch already: `%torch_python` in tests, with models of
transformers, `%transformers_python`, and with numpy and mpmath alone, `%numpy_python`.

Importing PyTorch, Inductor and fad takes about five seconds of processor time, and numpy a fifth of
one. A server, which lit.cfg.py starts, does it once, at the first request, and forks a process for
each script. The process has the script's arguments, working directory, environment and standard
streams; its exit status and its signal are those of the client, which is what a test runs.

The server has one thread, so that a fork leaves no lock held. It and its processes end when no
process of lit's holds the other end of its pipe, and a process ends with its client. A process
ends without the interpreter's destruction of modules and their objects, which are the server's
for the most part: that would copy its memory, for a third of a second of processor time. So a
script closes the files that it has written, and reads nothing of `__del__` at its end. Garbage
is collected less often than in an interpreter. A server that is `whole`, as that of the nightly
tests is, does neither.

A script gets an interpreter of its own where

- the environment differs from the server's in more than `FREE`: many libraries read it when
  they are imported;
- the interpreter has an option, such as `-X`, or its input is the script;
- the server does not answer.

Usage: torch_python.py NAME SCRIPT [ARGUMENT ...]
       torch_python.py NAME -c COMMAND [ARGUMENT ...]
       torch_python.py NAME -m MODULE [ARGUMENT ...]

NAME is that of the server's socket, which is in no folder."""

import json
import os
import signal
import socket
import struct
import sys

# Imports of the server: modules that scripts share and that start no thread.
IMPORTS = ["numpy", "torch", "torch._inductor.compile_fx", "first_graph"]
# These take another two seconds.
WITH_TRANSFORMERS = [
    *IMPORTS,
    *[
        f"transformers.models.{name}.modeling_{name}"
        for name in ("bert", "gpt2", "llama", "resnet")
    ],
]
# Variables that may differ between scripts: those that only scripts and fad read, which reads none
# when it is imported, paths of modules but fad's, folders whose names are read at each use, the GPUs,
# which CUDA reads at its first use, and the shell's own.
FREE = {"LC_CTYPE", "LIT_CURRENT_TESTCASE", "OLDPWD", "PWD", "PYTHONPATH", "SHLVL", "_"}
FREE |= {
    "CUDA_VISIBLE_DEVICES",
    "TEMP",
    "TEMPDIR",
    "TMP",
    "TMPDIR",
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
}
FREE_PREFIX = "FAD_"
HEADER = struct.Struct("!I")


def start(python, environment, imports, whole=False):
    """Starts a server for this process and those that it forks; returns its name, and the
    end of the pipe, with which the server ends."""
    kind = "--serve-whole" if whole else "--serve"
    name = f"fad-torch-python-{os.getpid()}-{os.urandom(8).hex()}"
    read, write = os.pipe()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0" + name)
        listener.listen(64)
        import subprocess

        subprocess.Popen(
            [python, __file__, kind, str(listener.fileno()), str(read), *imports],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=environment,
            pass_fds=[listener.fileno(), read],
            start_new_session=True,
        )
    os.close(read)
    return name, write


def receive(connection, size):
    """Exactly `size` bytes."""
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def fixed(environment):
    """The part of an environment that scripts have to share with the server."""
    return {
        name: value
        for name, value in environment.items()
        if name not in FREE and not name.startswith(FREE_PREFIX)
    }


class Server:
    def __init__(self, listener, pipe, imports, whole):
        import selectors

        self.imports = imports
        self.whole = whole
        self.selectors = selectors
        self.listener = listener
        self.pipe = pipe
        self.selector = selectors.DefaultSelector()
        self.selector.register(listener, selectors.EVENT_READ, self.accept)
        self.selector.register(pipe, selectors.EVENT_READ, self.end)
        # By number of process: what says that it has ended, and its client.
        self.children = {}
        self.warm = False
        self.environment = dict(os.environ)
        # Variables that the imports add to it, as they would in the script.
        self.added = {}

    def serve(self):
        """Returns a request, in the process that is to run it."""
        while True:
            for key, _ in self.selector.select():
                # An event before it may have closed this one, and reused its number.
                if self.selector.get_map().get(key.fd) is key:
                    request = key.data()
                    if request:
                        return request

    def end(self):
        for number in self.children:
            kill(number)
        sys.exit(0)

    def accept(self):
        connection, _ = self.listener.accept()
        credentials = connection.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")
        )
        if struct.unpack("3i", credentials)[1] != os.getuid():
            connection.close()
            return None
        streams = []
        try:
            connection.settimeout(60)
            header, streams, _, _ = socket.recv_fds(connection, HEADER.size, 3)
            request = json.loads(receive(connection, HEADER.unpack(header)[0]))
            if len(streams) != 3 or fixed(request["environment"]) != fixed(self.environment):
                connection.sendall(b"other\n")
                connection.close()
                return None
            return self.fork(connection, request, streams)
        except (OSError, EOFError, ValueError, struct.error) as error:
            print(f"torch_python.py: {error!r}", file=sys.stderr)
            connection.close()
            return None
        finally:
            for stream in streams:
                os.close(stream)

    def prepare(self):
        """Imports what scripts share; the threads of BLAS end at the first fork."""
        import gc
        import importlib
        import weakref

        for name in self.imports:
            importlib.import_module(name)
        self.added = dict(os.environ.items() - self.environment.items())
        # Fails here, before there is a script's process, where the system has no such handles.
        os.close(os.pidfd_open(os.getpid()))
        number = os.fork()
        if not number:
            os._exit(0)
        os.waitpid(number, 0)
        threads = os.listdir("/proc/self/task")
        if len(threads) != 1:
            raise SystemExit(f"torch_python.py: {len(threads)} threads, after {self.imports}")
        # Objects that are here stay: collections do not touch, hence not copy, them.
        gc.collect()
        gc.freeze()
        if not self.whole:
            # Compilers make many objects that last.
            gc.set_threshold(50_000, 20, 100)
            # PyTorch's libraries of operators need not be taken apart at each end.
            for finalizer in list(weakref.finalize._registry):
                finalizer.atexit = False
        self.warm = True

    def fork(self, connection, request, streams):
        if not self.warm:
            self.prepare()
        number = os.fork()
        if not number:
            for target, stream in enumerate(streams):
                os.dup2(stream, target)
            self.leave(connection)
            request["environment"].update(self.added)
            return request
        handle = os.pidfd_open(number)
        self.children[number] = handle, connection
        connection.settimeout(None)
        self.selector.register(handle, self.selectors.EVENT_READ, lambda: self.report(number))
        self.selector.register(connection, self.selectors.EVENT_READ, lambda: kill(number))
        return None

    def leave(self, connection):
        """Closes all that is the server's, in a process for a script."""
        os.setsid()
        self.selector.close()
        self.listener.close()
        os.close(self.pipe)
        connection.close()
        for handle, other in self.children.values():
            os.close(handle)
            other.close()

    def report(self, number):
        """Tells a client how its process has ended."""
        handle, connection = self.children.pop(number)
        _, status = os.waitpid(number, 0)
        self.selector.unregister(handle)
        self.selector.unregister(connection)
        os.close(handle)
        try:
            connection.sendall(b"%d\n" % status)
        except OSError:
            pass  # The client is gone.
        connection.close()


def kill(number):
    """Ends a process and those that it has started, whose client is gone."""
    for end in [os.killpg, os.kill]:
        try:
            end(number, signal.SIGKILL)
        except ProcessLookupError:
            pass


def set_up(request):
    """Gives this process what an interpreter has when it starts."""
    import tempfile

    tempfile.tempdir = None
    former = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    os.umask(request["umask"])
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    # The first is the server's own folder.
    sys.path[:] = paths + sys.path[1 + len(former) :]
    sys.stdin = sys.__stdin__ = open(0, closefd=False)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))
    sys.argv = request["arguments"]


def run_to_end(request):
    """Runs a request and ends its process as an interpreter ends, but for the destruction of objects."""
    import atexit
    import ctypes
    import threading

    try:
        run(request)
        status = 0
    except SystemExit as end:
        status = end.code
        if status is None:
            status = 0
        elif not isinstance(status, int):
            sys.stdout.flush()
            print(status, file=sys.stderr)
            status = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in [sys.stdout, sys.stderr]:
        try:
            stream.flush()
        except (OSError, ValueError):
            status = 120
    # Those of C, of all streams.
    ctypes.CDLL(None).fflush(None)
    os._exit(status & 0xFF)


def run(request):
    """Runs a script, a command or a module as the interpreter would."""
    import builtins
    import types

    set_up(request)
    main = types.ModuleType("__main__")
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    try:
        if sys.argv[0] == "-m":
            import runpy

            module = sys.argv.pop(1)
            sys.path.insert(0, os.getcwd())
            runpy._run_module_as_main(module)
        elif sys.argv[0] == "-c":
            sys.path.insert(0, "")
            exec(compile(sys.argv.pop(1), "<string>", "exec"), main.__dict__)
        else:
            sys.path.insert(0, os.path.dirname(os.path.realpath(sys.argv[0])))
            main.__file__ = os.path.abspath(sys.argv[0])
            with open(sys.argv[0], "rb") as file:
                code = compile(file.read(), main.__file__, "exec")
            exec(code, main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        # The trace begins in the script.
        error = error.with_traceback(error.__traceback__.tb_next)
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)


def ask(name, arguments):
    """The status of a script that the server has run, or None."""
    request = {
        "arguments": arguments,
        "directory": os.getcwd(),
        "environment": dict(os.environ),
        "umask": os.umask(0o22),
    }
    os.umask(request["umask"])
    data = json.dumps(request).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect("\0" + name)
            socket.send_fds(connection, [HEADER.pack(len(data))], [0, 1, 2])
            connection.sendall(data)
            answer = connection.makefile("rb").readline()
        except OSError:
            return None
    return int(answer) if answer.strip().isdigit() else None


def main():
    if sys.argv[1] in {"--serve", "--serve-whole"}:
        whole = sys.argv[1] == "--serve-whole"
        listener = socket.socket(fileno=int(sys.argv[2]))
        request = Server(listener, int(sys.argv[3]), sys.argv[4:], whole).serve()
        (run if whole else run_to_end)(request)
        return
    name, *arguments = sys.argv[1:]
    status = None
    if arguments and (arguments[0] in {"-c", "-m"} or os.path.isfile(arguments[0])):
        status = ask(name, arguments)
    if status is None:
        os.execv(sys.executable, [sys.executable, *arguments])
    number = os.waitstatus_to_exitcode(status)
    if number < 0:
        import resource

        # The script's process has left a core where one is wanted.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(-number, signal.SIG_DFL) if -number != signal.SIGKILL else None
        os.kill(os.getpid(), -number)
    sys.exit(number)


if __name__ == "__main__":
    main()
