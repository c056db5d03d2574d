"""Nested sequences that go on in another context, under another policy, in another
thread, under saved-tensor hooks, or after an error, and backward in another thread and in
inference mode, compared with eager PyTorch; targets that nest refuses."""

import contextlib
import itertools
import signal
import threading
import warnings

import torch
import torch.nn.functional as F
from checks import Checks, raises
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

import fad.torch

torch.manual_seed(0)
LEAF = torch.randn(8, 8, dtype=torch.double)
WEIGHT = torch.randn(8, 8, dtype=torch.double)
#: Each takes a sequence further.
PARTS = {
    "linear": lambda y: y * 2,
    "activation": lambda y: y * torch.sigmoid(y),
    "relu": torch.relu,
    "product": lambda y: y @ WEIGHT,
    "two uses": lambda y: (y.tanh() * 2 + y) @ WEIGHT,
}


def nest(policy):
    return fad.torch.nest(policy=policy, min_numel=0)


def gradient(value, x):
    return torch.autograd.grad(value.square().sum(), x)[0]


def changes_policy(parts, policies):
    x = LEAF.clone().requires_grad_()
    expected = nested = x
    for part, policy in zip(parts, policies):
        expected = PARTS[part](expected)
        with nest(policy):
            nested = PARTS[part](nested)
    return torch.allclose(gradient(nested, x), gradient(expected, x), 1e-12, 1e-12)


def changes_thread(policy):
    """The second thread has counted fewer operators than the first."""
    x = LEAF.clone().requires_grad_()
    with nest(policy):
        for _ in range(3):
            PARTS["activation"](x)
        value = PARTS["activation"](x)
    results = []

    def go_on():
        with nest(policy):
            results.append(PARTS["two uses"](value))

    thread = threading.Thread(target=go_on)
    thread.start()
    thread.join()
    expected = PARTS["two uses"](PARTS["activation"](x))
    return torch.allclose(gradient(results[0], x), gradient(expected, x), 1e-12, 1e-12)


def pulls_in_inference_mode(policy):
    x = LEAF.clone().requires_grad_()
    losses = [PARTS["activation"](x).tanh().sum()]
    with nest(policy):
        losses.append(PARTS["activation"](x).tanh().sum())
    with torch.inference_mode():
        expected, found = (torch.autograd.grad(loss, x)[0] for loss in losses)
    return torch.allclose(found, expected, 1e-12, 1e-12)


def save_on_cpu():
    return torch.autograd.graph.save_on_cpu()


def begins_before_hooks(x):
    """Hooks of others that begin between two operators of a sequence, and end there."""
    y = PARTS["activation"](x)
    with save_on_cpu():
        z = y.tanh() @ WEIGHT
        inside = PARTS["activation"](z)
    return (PARTS["activation"](y) @ WEIGHT) * inside.tanh() + inside


def hooks_around_another(x):
    """Hooks of others around a product alone."""
    y = PARTS["activation"](x)
    with save_on_cpu():
        z = y @ WEIGHT
    return (z * y) @ WEIGHT


def checkpointed(y):
    return checkpoint(torch.sum, y, 0, use_reentrant=False)


def under_lossy_hooks(y):
    with torch.autograd.graph.saved_tensors_hooks(torch.Tensor.half, torch.Tensor.double):
        return y.sum(0)


def under_failing_hooks(y):
    """PyTorch's sum saves nothing that a hook would unpack."""
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda _: 1 / 0):
        return y.sum(0)


def ends_in_hooks(activation, reader, options):
    """A sequence's tensors where another's hooks begin are none of theirs."""

    def pull(reader):
        x = LEAF.clone().requires_grad_()
        with fad.torch.nest(min_numel=0, **options):
            value = reader(activation(x * 1))
        return gradient(value, x)

    found = pull(reader)
    if options["derivative_bits"]:
        return torch.equal(found, pull(lambda y: y.sum(0)))
    x = LEAF.clone().requires_grad_()
    return torch.allclose(found, gradient(activation(x).sum(0), x), 1e-12, 1e-12)


def searches_in_modes():
    """The search for levels makes tensors on the CPU, whatever the default device is."""
    x = LEAF.clone().requires_grad_()
    with fad.torch.nest(min_numel=0, policy="fad", derivative_bits=2):
        y = torch.tanh(x * 1.5) * torch.sigmoid(x * 1.5)
        with torch.device("meta"):
            value = y.sum(0)
    return len(torch.autograd.grad(value.sum(), x)[0].unique()) <= 4


class Recorder(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        self.names.append(str(op))
        return op(*args, **(kwargs or {}))


def searches_unseen(engine, policy):
    """The computation of a derivative in few bits at the end of a sequence, the search included,
    is no operator of the program."""
    x = LEAF.clone().requires_grad_()
    names = []
    # A search is done once, with the first of the two sequences.
    number = 2 + (engine == "deferred") / 4 + (policy == "fad") / 8
    for _ in range(2):
        with fad.torch.nest(min_numel=0, engine=engine, policy=policy, derivative_bits=5):
            y = torch.tanh(x * number) * torch.sigmoid(x) * 1.5
            with Recorder() as recorder:
                value = y.sum(0)
        names.append(recorder.names)
    is_rounded = len(torch.autograd.grad(value.sum(), x)[0].unique()) <= 32
    return is_rounded and names == [["aten.sum.dim_IntList"]] * 2


@contextlib.contextmanager
def inside_of_search(call):
    """An operator of the search calls a function of Python, from C++."""
    library = torch.library.Library("aten", "IMPL")
    library.impl("tanh_backward", lambda *_: call(), "CPU", allow_override=True)
    try:
        yield
    finally:
        library._destroy()


def stays_exact_where_the_search_fails():
    """One warning says so for all sequences with the same exception."""

    def fail():
        raise RuntimeError("planted")

    def function(x, number):
        return torch.tanh(x * number).exp()

    is_exact = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for number in (1.75, 1.875):
            x = LEAF.clone().requires_grad_()
            with fad.torch.nest(min_numel=0, derivative_bits=6):
                y = function(x, number)
                with inside_of_search(fail):
                    value = y.sum(0)
            expected = gradient(function(x, number).sum(0), x)
            is_exact.append(torch.allclose(gradient(value, x), expected, 1e-12, 1e-12))
    said = [str(warning.message) for warning in caught]
    # PyTorch says that another kernel is registered.
    assert [message for message in said if "Overriding" not in message] == [
        "fad.torch.nest: a derivative stays exact, as the search for its levels failed: "
        "RuntimeError: planted"
    ]
    return all(is_exact)


def is_silent_without_levels():
    """A derivative that has none is no reason for a warning."""
    x = LEAF.clone().requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with fad.torch.nest(min_numel=0, derivative_bits=6):
            value = (torch.tanh(x) * x * x).sum(0)
    return torch.allclose(gradient(value, x), gradient((torch.tanh(x) * x * x).sum(0), x))


def is_interrupted(engine, policy):
    """Ctrl-C while levels are searched ends the program there; what goes on has levels."""
    # A process in the background may have been started without.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    x = LEAF.clone().requires_grad_()
    # A search is done once.
    number = 1.25 + (engine == "deferred") / 4 + (policy == "fad") / 8
    with fad.torch.nest(min_numel=0, engine=engine, policy=policy, derivative_bits=4):
        y = torch.tanh(x * number) * torch.sigmoid(x)
        with inside_of_search(lambda: signal.raise_signal(signal.SIGINT)):
            try:
                y.sum(0)
                return False
            except KeyboardInterrupt:
                pass
        value = y.sum(0)
    return len(torch.autograd.grad(value.sum(), x)[0].unique()) <= 16


def goes_on_after_an_error(x):
    y = PARTS["activation"](x)
    try:
        (y * 2) @ WEIGHT[:3]
    except RuntimeError:
        pass
    try:
        y + torch.ones(5)
    except RuntimeError:
        pass
    return (y * y.tanh()) @ WEIGHT


def writes_elsewhere(x):
    """`out=` where no gradient is recorded, from a value of a sequence."""
    y = PARTS["activation"](x)
    buffer = torch.empty(8, 8, dtype=torch.double)
    with torch.no_grad():
        torch.mul(y, 2, out=buffer)
        torch.mm(y, WEIGHT, out=buffer)
    return (y * buffer).tanh() @ WEIGHT


def in_a_stream(x):
    with torch.cpu.stream(torch.cpu.Stream()):
        y = PARTS["activation"](x)
    return y.tanh() @ WEIGHT


WITHIN = (
    begins_before_hooks,
    hooks_around_another,
    goes_on_after_an_error,
    writes_elsewhere,
    in_a_stream,
)


def agrees(function, policy):
    x = LEAF.clone().requires_grad_()
    expected = gradient(function(x), x)
    with nest(policy):
        value = function(x)
    return torch.allclose(gradient(value, x), expected, 1e-12, 1e-12)


def pulls_in_another_thread(policy):
    x = LEAF.clone().requires_grad_()
    with nest(policy):
        value = PARTS["two uses"](PARTS["activation"](x))
    found = []
    thread = threading.Thread(target=lambda: found.append(gradient(value, x)))
    thread.start()
    thread.join()
    expected = gradient(PARTS["two uses"](PARTS["activation"](x)), x)
    return torch.allclose(found[0], expected, 1e-12, 1e-12)


def pulls_at_once(function, options):
    """Threads that ask one graph for the gradient of the same tensor."""
    x = LEAF.clone().requires_grad_()
    expected = torch.autograd.grad(function(x).sum(), x)[0]
    with fad.torch.nest(min_numel=0, **options):
        loss = function(x).sum()
    found = []

    def pull():
        for _ in range(300):
            found.append(torch.autograd.grad(loss, x, retain_graph=True)[0])

    threads = [threading.Thread(target=pull) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # An error of a thread ends it.
    right = [torch.allclose(each, expected, 1e-12, 1e-12) for each in found]
    return len(right) == 1200 and all(right)


def differentiates_twice_over_threads():
    """Autograd orders nodes by numbers of their threads, and a result that PyTorch's node
    has saved leads to that node."""

    def function(x, call):
        double = x + x
        y = double.tanh()
        rows = y[0].expand(8, 8).tril()
        return call(lambda: double / (y * y + 1)).sin() + 0 * rows

    def in_a_thread(call):
        found = []

        def target():
            with nest("auto"):
                found.append(call())

        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
        return found[0]

    def second(run):
        x = LEAF.clone().requires_grad_()
        (first,) = torch.autograd.grad(run(x).sum(), x, create_graph=True)
        return gradient(first, x)

    with nest("auto"):
        found = second(lambda x: function(x, in_a_thread))
    expected = second(lambda x: function(x, lambda call: call()))
    return torch.allclose(found, expected, 1e-12, 1e-12)


def records_out(policy):
    """PyTorch's own error."""
    x = LEAF.clone().requires_grad_()
    with nest(policy):
        torch.mul(PARTS["activation"](x), 2, out=torch.empty(8, 8, dtype=torch.double))


async def coroutine():
    pass


def compiled():
    model = nn.Linear(2, 2)
    model.compile(backend="eager")
    fad.torch.nest(model)


class Slotted(nn.Module):
    __slots__ = ("scale",)


def parametrizes_later():
    """A parametrization of the model is one of the nested module, too."""
    model = nn.Linear(8, 8).double()
    nested = fad.torch.nest(model)
    nn.utils.parametrize.register_parametrization(model, "weight", nn.Tanh())
    return torch.equal(nested(LEAF), model(LEAF))


def compiles_as_a_whole(engine):
    model = nn.Sequential(nn.Linear(8, 8).double(), nn.Tanh())
    nested = fad.torch.nest(model, engine=engine)
    compiled = torch.compile(nested, backend="eager", fullgraph=True)
    return torch.equal(compiled(LEAF), model(LEAF))


def enters_in_threads():
    """Each thread leaves the context as it entered it."""
    context, found = fad.torch.nest(policy="fad", min_numel=0), []

    def target():
        for _ in range(200):
            with context, context:
                pass
        x = LEAF.clone().requires_grad_()
        found.append((x.tanh() * 2).grad_fn.name())

    threads = [threading.Thread(target=target) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found == ["MulBackward0"] * 4


check = Checks()
for parts in itertools.product(PARTS, repeat=2):
    for policies in (("auto", "fad"), ("fad", "auto")):
        check(f"{parts} {policies}", lambda: changes_policy(parts, policies))
for parts in itertools.product(("activation", "relu"), PARTS, PARTS):
    for policies in (("auto", "fad", "auto"), ("fad", "auto", "fad")):
        check(f"{parts} {policies}", lambda: changes_policy(parts, policies))
for policy in ("auto", "fad"):
    check(f"thread {policy}", lambda: changes_thread(policy))
    check(f"another thread's backward {policy}", lambda: pulls_in_another_thread(policy))
    check(
        f"out= {policy}",
        lambda: raises("don't support automatic differentiation", lambda: records_out(policy)),
    )
    for function in WITHIN:
        check(f"{function.__name__} {policy}", lambda: agrees(function, policy))
    check(f"inference {policy}", lambda: pulls_in_inference_mode(policy))
ACTIVATIONS = (torch.tanh, torch.relu, F.silu, F.gelu, lambda y: y * torch.sigmoid(y))
READERS = checkpointed, under_lossy_hooks, under_failing_hooks
OPTIONS = itertools.product(("interactive", "deferred"), ("auto", "fad"), (None, 6))
# Levels are searched once: each reader is the first to do that of some activation.
for number, (engine, policy, bits) in enumerate(OPTIONS):
    options = {"engine": engine, "policy": policy, "derivative_bits": bits}
    for each, activation in enumerate(ACTIVATIONS):
        for turn in range(len(READERS)):
            reader = READERS[(number + each + turn) % len(READERS)]
            name = f"{each} ends in {reader.__name__} {options}"
            check(name, lambda: ends_in_hooks(activation, reader, options))
for engine, policy in itertools.product(("interactive", "deferred"), ("auto", "fad")):
    options = {"engine": engine, "policy": policy}
    for number, function in enumerate(
        (lambda x: torch.tanh(x * 2) * 3, lambda x: torch.relu(x * 2) + 1)
    ):
        check(f"at once {number} {options}", lambda: pulls_at_once(function, options))
check("search in modes", searches_in_modes)
check("search that fails", stays_exact_where_the_search_fails)
check("no levels", is_silent_without_levels)
for engine, policy in itertools.product(("interactive", "deferred"), ("auto", "fad")):
    check(f"search unseen {engine} {policy}", lambda: searches_unseen(engine, policy))
    check(f"search interrupted {engine} {policy}", lambda: is_interrupted(engine, policy))
check("second derivative over threads", differentiates_twice_over_threads)
check("coroutine", lambda: raises("nest takes no coroutines", lambda: fad.torch.nest(coroutine)))
check("compiled", lambda: raises("model.compile() was called", compiled))
check(
    "class", lambda: raises("and not its class: fad.torch.nest(", lambda: fad.torch.nest(nn.Linear))
)
check(
    "lazy",
    lambda: raises("call it once, and nest it then", lambda: fad.torch.nest(nn.LazyLinear(8))),
)
check(
    "slots",
    lambda: raises("attributes in __slots__ (scale)", lambda: fad.torch.nest(Slotted())),
)
check("parametrization", parametrizes_later)
for engine in ("interactive", "deferred"):
    check(f"fullgraph {engine}", lambda: compiles_as_a_whole(engine))
check("one context in threads", enters_in_threads)


def nests_from(device, count):
    """Whether tensors of so many elements are nested, and smaller ones are not."""
    names = []
    for size in (count - 1, count):
        x = torch.zeros(size, device=device, requires_grad=True)
        with fad.torch.nest():
            names.append((x * torch.sigmoid(x)).grad_fn.name())
    return names == ["MulBackward0", "FadBackward"]


for device, count in {"cpu": 2**12, "meta": 2**20}.items():
    check(f"elements on {device}", lambda: nests_from(device, count))
check("large", lambda: fad.torch.nest(min_numel=2**64).__enter__().__exit__() is None)
check.finish()
