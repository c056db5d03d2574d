"""Functions of a value that an operator has computed, and of a weight. All that they return has a
part in the loss."""

import torch
import torch.nn.functional as F

SIZE = 66
CONSTANT = torch.rand(SIZE, SIZE)
LEAF = torch.rand(SIZE, SIZE)
WEIGHT = torch.rand(SIZE, SIZE)


def multiply(v):
    return v * CONSTANT


def save(v):
    return v.cumprod(1)


PROGRAMS = {
    "a reader that saves a result": lambda h, w: [v := h.exp(), multiply(v).flip(0), save(v)][1:],
    "far behind the end": lambda h, w: [
        v := h.exp(),
        (multiply(v).sin() * 2).cos().flip(0),
        save(v),
    ][1:],
    "a second reader": lambda h, w: [
        v := h.sin() * 2,
        (v.cos() * v).flip(0),
        v.flip(0),
        save(v),
    ][1:],
    "before the end": lambda h, w: [
        v := h * 2,
        a := v.sin() + v.cos(),
        save(v),
        a.flip(0),
    ][2:],
    "after the end": lambda h, w: [v := h * 2, (v.sin() + v.cos()).flip(0), save(v)][1:],
    "two open sequences": lambda h, w: [v := h * 2, a := v.sin(), b := v * v, a.flip(0), b.flip(0)][
        3:
    ],
    "an operator's own node": lambda h, w: [v := h * 2, (v * v).flip(0), v.sin().flip(0)][1:],
    "a view, before the end": lambda h, w: [v := h.exp(), v.cos(), v.t().sin()][1:],
    "a view, after the end": lambda h, w: [v := h.exp(), v.cos().flip(0), v.t().sin().flip(0)][1:],
    "a view that a reader saves": lambda h, w: [
        v := h.exp(),
        multiply(v).flip(0),
        v.t().cumprod(0),
    ][1:],
    "a slice that a reader saves": lambda h, w: [
        v := h * 2,
        (v.sin() + v.cos()).flip(0),
        v[1:].cumprod(1),
    ][1:],
    "a slice, before the end": lambda h, w: [
        v := h * 2,
        a := v.sin() + v.cos(),
        v[1:].t()[2:].cumprod(1),
        a.flip(0),
    ][2:],
    "a slice, before the sequence": lambda h, w: [
        v := h * 2,
        v[1:].cumprod(1),
        (v.sin() + v.cos()).flip(0),
    ][1:],
    "a slice at which a sequence begins": lambda h, w: [
        v := h * 2,
        (v.sin() + v.cos()).flip(0),
        v[1:].sin().flip(0),
    ][1:],
    "a slice that nothing saves": lambda h, w: [
        v := h * 2,
        (v.sin() + v.cos()).flip(0),
        v[1:].flip(0),
        save(v),
    ][1:],
    "a slice whose reader goes": lambda h, w: [
        v := h * w,
        u := v * 2,
        v[1:].square().mean().item(),
        [v.flip(0), u.flip(0)],
    ][3],
    "a value whose reader goes": lambda h, w: [
        v := h * w,
        u := v * 2,
        save(v).mean().item(),
        [v.flip(0), u.flip(0)],
    ][3],
    "chunks of a kink": lambda h, w: [
        v := h.relu(),
        u := v * h,
        c := v.chunk(2, 1),
        [u.flip(0), (c[0] * c[1]).flip(0), v.flip(0)],
    ][3],
    "a slice of a cast": lambda h, w: [
        v := h.double(),
        (v.sin() + v.cos()).flip(0),
        v[1].cumprod(0),
    ][1:],
    "chunks": lambda h, w: [
        v := h * 2,
        a := (v.sin() + v.cos()).flip(0),
        c := v.chunk(2, 1),
        [a, (c[0] * c[1].sigmoid()).flip(0), (v.sin() * v).flip(0)],
    ][3],
    "a product with a leaf": lambda h, w: [
        v := h * 2,
        v.sin().mean(),
        v.cos().mean(),
        v.square().mean(),
        v * w,
    ][1:],
    "a reader that computes what it saves": lambda h, w: [
        v := h.exp(),
        multiply(v).sin() @ w,
        save(v),
    ][1:],
    "sequences that share a value": lambda h, w: [
        v := h.exp(),
        a := multiply(v).sin(),
        (a.exp() * 2).cos().flip(0),
        (a.cos() * a).flip(0),
        a @ w,
        save(v),
    ][2:],
    "two values": lambda h, w: [
        v := h.exp(),
        u := h.sigmoid(),
        (v * u).sin().flip(0),
        save(v),
        save(u),
    ][2:],
    "one after the other": lambda h, w: [
        v := h.exp(),
        u := multiply(v).sin().exp(),
        (u.cos() * u).flip(0),
        save(v),
        save(u),
    ][2:],
    "a source that is needed still": lambda h, w: [
        v := h.exp(),
        (v * h.sin()).cos().flip(0),
        save(v),
    ][1:],
    "a source that is within, too": lambda h, w: [
        v := h.exp(),
        a := v + h,
        v.flip(0),
        (v * a).sin().flip(0),
    ][2:],
    "in a wider type": lambda h, w: [
        v := h.exp(),
        (v.double().sin() * 2).exp().flip(0),
        save(v),
    ][1:],
    "a cast": lambda h, w: [v := h.double(), (v.sin() + v.cos()).flip(0), save(v)][1:],
    "a cast, before the end": lambda h, w: [
        v := (h * 2).double(),
        a := v.sin() + v.cos(),
        save(v),
        a.flip(0),
    ][2:],
    "a cast of several sequences": lambda h, w: [
        v := h.double(),
        (v.sin() + v.cos()).flip(0),
        (v.exp() * v).flip(0),
        save(v),
        (v.sin() * v).flip(0),
    ][1:],
    "a view of a cast": lambda h, w: [
        v := h.double(),
        (v.exp() * v.sin()).flip(0),
        v.t().cumprod(0),
    ][1:],
    "a cast and another value": lambda h, w: [
        v := h.double(),
        u := v.exp(),
        (u.sin() * v).flip(0),
        save(u),
        save(v),
    ][2:],
}


def read_in(order, compute):
    """Reads values, by their names, in an order. No tensor has one any more once it is read."""

    def program(h, w):
        values = compute(h)
        del h
        return [values.pop(name).flip(0) for name in order]

    return program


def fork(s, other):
    """A value, its multiple, and another function of it."""
    return {"s": s, "q": s * 3 - 1, "n": other(s)}


for order in ("sqn", "snq", "nsq", "nqs", "qsn", "qn", "nq"):
    PROGRAMS |= {
        f"a result and its multiple, {order}": read_in(
            order, lambda h: fork((h * 2).sigmoid(), torch.sin)
        ),
        f"a result, its multiple and its cast, {order}": read_in(
            order, lambda h: fork(h.tanh(), torch.Tensor.double)
        ),
        f"a kink and its multiple, {order}": read_in(
            order, lambda h: fork((h @ h.t() - 20).relu(), save)
        ),
        f"results of a slice, {order}": read_in(order, lambda h: fork(h[:9].tanh(), save)),
        f"powers of a slice, {order}": read_in(order, lambda h: fork(h[:9] ** 3, lambda s: s * 2)),
        f"a kink, its multiple and a function, {order}": read_in(
            order, lambda h: fork((h - 0.5).relu(), torch.sin)
        ),
        f"a result and its sum with the source, {order}": read_in(
            order, lambda h: dict(s=(s := (h * 2).tanh()), q=h * 3 - s, n=s.sin())
        ),
        f"a kink and its sum with the source, {order}": read_in(
            order, lambda h: dict(s=(s := (h * 2 - 1).relu()), q=h + s, n=s.square())
        ),
    }


class Save(torch.autograd.Function):
    """A function of Python's, which saves what it reads."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.square()

    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient * ctx.saved_tensors[0]


# Kinks, of which few bits are kept until something else keeps their results.
PROGRAMS |= {
    "a kink that is saved later": lambda h, w: [r := (h - 0.5).relu(), r.flip(0), save(r)][1:],
    "a kink whose view is saved later": lambda h, w: [r := h.relu(), r.flip(0), save(r.t())][1:],
    "a kink whose chunks are saved later": lambda h, w: [
        r := h.relu(),
        r.flip(0),
        c := r.chunk(2, 1),
        c[0] @ c[1].t(),
    ][1::2],
    "a kink of a product": lambda h, w: [r := (h - 0.5).relu(), r.flip(0), r * h.sin()][1:],
    "a kink that is read twice at once": lambda h, w: [
        r := h.relu(),
        s := torch.stack([r, r]).sum(0),
        s * r,
    ][1:],
    "a kink that is within": lambda h, w: [
        r := (h - 0.5).relu(),
        u := r.sin(),
        r.flip(0),
        u.flip(0),
        save(r),
    ][2:],
    "a kink whose slice is a factor": lambda h, w: [
        r := (h - 0.5).relu(),
        u := r.sin(),
        r[:9] * w[:9],
        r.flip(0),
        u.flip(0),
    ][2:],
}
# Values and views of them.
PROGRAMS |= {
    "a value and its view": lambda h, w: [v := h.tanh(), v * v.t()][1:],
    "a kink and its view": lambda h, w: [v := (h + h - 0.5).relu(), v * v.view_as(v)][1:],
    "a value, its view and a function": lambda h, w: [
        v := h.sigmoid(),
        a := v.sin(),
        v * v.view(-1).view(v.shape) * a,
        a.flip(0),
    ][2:],
    "a power and its source": lambda h, w: [
        a := (h * 0.3) ** 3,
        b := a + h,
        a.flip(0),
        b.flip(0),
    ][2:],
    "a slice of a value within": lambda h, w: [
        e := (h * 0.1).exp(),
        s := e.sin(),
        t := s[:-1],
        e.flip(0),
        t.flip(0),
    ][3:],
    "a slice of a value that is read": lambda h, w: [
        e := (h * 0.1).exp(),
        s := e.sin(),
        t := s[:-1],
        u := s.cos(),
        e.flip(0),
        t.flip(0),
        u.flip(0),
    ][4:],
    "a function of Python's": lambda h, w: [e := h.sigmoid(), Save.apply(e), e.flip(0)][1:],
}
# Results that their operators save, of which the source is kept until something else keeps them.
for name in ("exp", "expm1", "reciprocal", "relu", "rsqrt", "sigmoid", "sqrt", "tan", "tanh"):
    PROGRAMS[f"a result that is saved later, {name}"] = lambda h, w, name=name: [
        s := getattr(torch, name)(h * 0.5 + 0.1),
        u := s.sin(),
        s.flip(0),
        u.flip(0),
        save(s),
    ][2:]
PROGRAMS |= {
    "a sum whose source nothing else needs": lambda h, w: [
        s := h.tanh(),
        d := s + h,
        save(s),
        d.flip(0),
    ][2:],
    "a function of Python's, of a kink": lambda h, w: [r := (h - 0.5).relu(), Save.apply(r)][1:],
    "a function of Python's, and another": lambda h, w: [
        s := h.tanh(),
        u := s.sin(),
        Save.apply(s),
        u.flip(0),
    ][2:],
    "a function of Python's, of a cast that is recomputed": lambda h, w: [
        v := h.double(),
        v @ v,
        Save.apply(v),
    ][1:],
    "a kink that is multiplied by its transpose": lambda h, w: [
        r := (h - 0.5).relu(),
        r @ r.t(),
        r.cos(),
    ][1:],
    "a view of a kink, and a function": lambda h, w: [
        r := (h - 0.5).relu(),
        r.t().flip(0),
        r.sin().flip(0),
        r.flip(0),
    ][1:],
    "a view that nothing reads": lambda h, w: [s := h.tanh(), s.t(), s.sin().flip(0)][2:],
    "operands of a slice": lambda h, w: [
        m := h[:9] * 2,
        n := m * 2,
        n.square().flip(0),
        n.sin().flip(0),
        n * w[:9],
    ][2:],
    "a result after its operand": lambda h, w: [
        m := h[:9] * 2,
        s := m.sigmoid(),
        torch.cat([m, h]),
        s.flip(0),
        s.cos(),
    ][2:],
    "a multiple and a cast of it": lambda h, w: [m := h * 2, m.double(), m * m, save(m)][1:],
    "a kink of a kink": lambda h, w: [
        v := F.hardtanh(h - 0.5, -0.2, 0.2),
        F.leaky_relu(v, 0.1).flip(0),
        save(v),
    ][1:],
    "a sum of kinks": lambda h, w: [
        v := F.hardtanh(h, 0.2, 0.8),
        u := (h - 0.5).abs(),
        u + v,
    ][1:],
    "a sum of a result and itself": lambda h, w: [
        v := (h * 2).sin(),
        u := v + v,
        u + h,
    ],
    "a sum of multiples of a result": lambda h, w: [
        v := h.tanh(),
        u := torch.add(v * 3, v, alpha=-0.5),
        u - v * 2 + h,
    ],
    "a sum of sums with the source": lambda h, w: [
        v := h.tanh(),
        u := h + v,
        u + u,
    ],
    "a sum of multiples of a product": lambda h, w: [
        v := h * h,
        u := v + v,
        u * 2 + h,
    ][1:],
    "a difference of a result and itself": lambda h, w: [v := h.exp(), v - v][1:],
    "a source of a sum, and a value": lambda h, w: [
        v := h.tanh(),
        v.sin() + h,
        save(v),
    ][1:],
    "a source of a sum, and a value that is saved before": lambda h, w: [
        v := h.tanh(),
        save(v),
        u := h - v.cos(),
        u.square().flip(0),
        u * 2,
    ][1:],
    "a source of sums of sums": lambda h, w: [
        v := h * 2,
        u := v.sin() + h,
        (u.cos() + u * 3).flip(0),
        (h * 0.5 - u).flip(0),
        save(u),
    ][2:],
    "a source of a sum, and a value that is computed again": lambda h, w: [
        v := h.tanh(),
        u := v.sin() + h,
        u @ w,
        save(v),
        u @ w,
    ][2:],
    "a source of a sum that is read, too": lambda h, w: [
        v := h.tanh(),
        (v.sin() + h).flip(0),
        (v.cos() * h).flip(0),
        save(v),
    ][1:],
    "a transposed row": lambda h, w: [h[1:2].t().relu()],
    "a row of a repeated row": lambda h, w: [h[:1].expand(3, -1)[1:2].tanh() * 1.5],
    "a wide result before the value": lambda h, w: [save(h.double().sigmoid().sqrt())],
    "a gradient in forward": lambda h, w: [
        v := h.tanh(),
        save(v),
        torch.autograd.grad(v.sum(), h, create_graph=True)[0],
    ][1:],
    "a gradient in forward, of a longer sequence": lambda h, w: [
        v := (h + h).sigmoid(),
        u := v.cos(),
        save(v),
        torch.autograd.grad(u.sum(), h, create_graph=True)[0],
    ][2:],
}

# The rest of a sum's derivative goes through the value at which its sequence begins.
SAVERS = {"cumprod": lambda m, w: save(m), "sin": lambda m, w: m.sin(), "mm": torch.mm}
for function in (torch.relu, torch.exp, torch.tanh):
    for saver, read in SAVERS.items():
        PROGRAMS[f"{function.__name__} and a value that {saver} saves"] = (
            lambda h, w, function=function, read=read: [
                m := h * 2,
                t := function(m),
                t + m,
                read(m, w),
                t * m,
            ][2:]
        )
        PROGRAMS[f"a value that {saver} has saved less {function.__name__}"] = (
            lambda h, w, function=function, read=read: [
                m := h * 2,
                t := function(m),
                read(m, w),
                m - 2 * t,
                (t * m).flip(0),
            ][2:]
        )
