"""Changes to MLIR, as text and as bytecode.

Most changes keep what parses parsable, so that passes meet it: a type, a size or a
name is replaced wherever it stands, and an operation by one of its dialect.
"""

import re
from collections import defaultdict

TOKEN = re.compile(
    r"//[^\n]*|\n|[ \t]+|\"(?:[^\"\\\n]|\\.)*\"|[%@#!^][\w$.:#-]+|->"
    r"|0x[0-9a-fA-F]+(?!\w)|\d+\.\d*(?:[eE][-+]?\d+)?|\d+|[A-Za-z_][\w$.]*|."
)
ELEMENTS = ["f16", "bf16", "f32", "f64", "i1", "i8", "i32", "i64", "index"]
ELEMENTS += ["complex<f32>", "f8E4M3FN", "tf32", "none", "si8"]
TYPE = re.compile(r"(?<![\w.%@#])(?:f16|bf16|f32|f64|i1|i8|i16|i32|i64|index)(?![\w.])")
SHAPE = re.compile(r"(?<=<)((?:\d+|\?)x)+(?=[a-z!v])")
NUMBERS = [-1, 0, 1, 2, 3, 7, 64, 255, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1]
NUMBERS += [-(2**63), 2**63, 2**64, "0x7FC00000", "0x7FF0000000000000", "1.0e400", "1.5"]


def classify(token):
    """A token that may stand where `token` does, or nothing."""
    if token[0] in "%@#!^":
        return token[0]
    if token[0].isdigit():
        return "number"
    if token[0] == '"':
        return "string"
    if re.fullmatch(r"[A-Za-z_][\w$]*\.[\w$.]+", token):
        return token.split(".")[0] + "."
    return "word" if re.fullmatch(r"[A-Za-z_]\w*", token) else None


class Pool:
    """The parts of all inputs: tokens by class, lines, and attributes."""

    def __init__(self, texts):
        tokens, lines, attributes = defaultdict(set), set(), set()
        for text in texts:
            for token in TOKEN.findall(text):
                kind = classify(token)
                if kind and len(token) < 60:
                    tokens[kind].add(token)
            lines.update(line for line in text.split("\n") if len(line) < 300)
            attributes.update(
                re.findall(r"\b(?:fad|linalg|bufferization)\.\w+ = [\w. :<>\[\],#]+?(?=[,}])", text)
            )
            attributes.update(re.findall(r"\{(fad\.\w+)\}", text))
        # The order of sets differs from process to process.
        self.tokens = {kind: sorted(found) for kind, found in tokens.items()}
        self.lines, self.attributes = sorted(lines), sorted(attributes)


class TextMutator:
    def __init__(self, pool, random):
        self.pool, self.random = pool, random
        self.changes = [self.element, self.shape, self.operation, self.operand] * 3
        self.changes += [self.number, self.attribute] * 2 + [self.foreign]
        self.changes += [self.token, self.delete_token, self.swap_tokens]
        self.changes += [self.delete_line, self.copy_line, self.foreign_line]

    def mutate(self, text):
        return self.random.choice(self.changes)(text)

    def replace(self, text, pattern, make):
        """Replaces one match of `pattern`, or all that equal it, by `make` of it."""
        found = [match.span() for match in re.finditer(pattern, text)]
        if not found:
            return text
        start, end = self.random.choice(found)
        old = text[start:end]
        new = str(make(old))
        if self.random.random() < 0.3:
            return text[:start] + new + text[end:]
        parts, last = [], 0
        for start, end in found:
            if text[start:end] == old:
                parts += [text[last:start], new]
                last = end
        return "".join(parts) + text[last:]

    def tokens(self, text, change):
        """Lets `change` work on the tokens that are no space and no comment."""
        tokens = TOKEN.findall(text)
        places = [
            place
            for place, token in enumerate(tokens)
            if not token.isspace() and not token.startswith("//")
        ]
        if places:
            change(tokens, places)
        return "".join(tokens)

    # Changes that mostly leave a valid program.

    def element(self, text):
        return self.replace(text, TYPE, lambda old: self.random.choice(ELEMENTS))

    def shape(self, text):
        def change(old):
            sizes = old.split("x")[:-1]
            place = self.random.randrange(len(sizes))
            kind = self.random.random()
            if kind < 0.15:
                del sizes[place]
            elif kind < 0.3:
                sizes.insert(place, self.random.choice(["1", "?", "2"]))
            else:
                size = self.random.choice(
                    ["?", "?", "0", "0", "1", "1", "2", "5", "255", "4294967296"]
                )
                sizes[place] = size
            return "".join(size + "x" for size in sizes)

        if self.random.random() < 0.5:
            return self.replace(text, SHAPE, change)
        # One size wherever it is one.
        new = self.random.choice(["?", "0", "1", "2", "17"])
        return self.replace(text, r"(?<=[<x])(?:\d+|\?)(?=x)", lambda old: new)

    def operation(self, text):
        def change(old):
            return self.random.choice(self.pool.tokens.get(classify(old) or "", [old]))

        return self.replace(text, r"(?<![\w.%@#\"])[a-z_]+\.[a-z_][\w.]*", change)

    def operand(self, text):
        names = re.findall(r"%[\w#]+", text)
        return self.replace(text, r"%[\w#]+(?! *[=:])", lambda old: self.random.choice(names))

    def number(self, text):
        def change(old):
            if self.random.random() < 0.5:
                return int(old) + self.random.choice([-1, 1]) if old.isdigit() else "-" + old
            return self.random.choice(NUMBERS)

        return self.replace(text, r"(?<![\w%@#^.])\d+(?:\.\d+)?(?![\w.])", change)

    def attribute(self, text):
        """Gives an argument, a function or an operation an attribute of another."""
        given = self.random.choice(self.pool.attributes)
        place = self.random.choice(
            [
                r"%\w+: [a-z]+<[^<>]*>(?=[,)])",
                r"\) -> \S+(?= \{\n)",
                r"\bfunc\.func @\w+\([^{}]*?\)",
            ]
            + [r" (?=: [a-z]+<\S*\n)"] * 2
        )
        function = "func" in place or "->" in place
        text_of = f" attributes {{{given}}}" if function else f" {{{given}}} "
        return self.replace(text, place, lambda old: old + text_of)

    def foreign(self, text):
        """An operation, in generic form, of no dialect that there is."""
        return self.replace(text, r'"[a-z_]+\.[\w.]+"(?=\()', lambda old: '"foreign.op"')

    # Changes of anything.

    def token(self, text):
        def change(tokens, places):
            place = self.random.choice(places)
            known = self.pool.tokens.get(classify(tokens[place]) or "")
            tokens[place] = self.random.choice(known or tokens)

        return self.tokens(text, change)

    def delete_token(self, text):
        def change(tokens, places):
            del tokens[self.random.choice(places)]

        return self.tokens(text, change)

    def swap_tokens(self, text):
        def change(tokens, places):
            one, other = (self.random.choice(places) for _ in range(2))
            tokens[one], tokens[other] = tokens[other], tokens[one]

        return self.tokens(text, change)

    def delete_line(self, text):
        lines = text.split("\n")
        del lines[self.random.randrange(len(lines))]
        return "\n".join(lines)

    def copy_line(self, text):
        lines = text.split("\n")
        lines.insert(self.random.randrange(len(lines)), self.random.choice(lines))
        return "\n".join(lines)

    def foreign_line(self, text):
        """A line of another input, which reads values of this one."""
        lines = text.split("\n")
        names = re.findall(r"%\w+", text) or ["%x"]
        line = re.sub(
            r"%\w+(?! *=)",
            lambda match: self.random.choice(names),
            self.random.choice(self.pool.lines),
        )
        lines.insert(self.random.randrange(len(lines)), line)
        return "\n".join(lines)


def mutate_bytes(data, random):
    """Flips bits, replaces bytes, cuts the end off, or repeats a part."""
    data = bytearray(data)
    for _ in range(random.choice([1, 1, 2, 4, 16])):
        if not data:
            break
        kind, place = random.random(), random.randrange(len(data))
        if kind < 0.5:
            data[place] ^= 1 << random.randrange(8)
        elif kind < 0.8:
            data[place] = random.choice([0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)])
        elif kind < 0.9:
            del data[place:]
        else:
            end = place + random.randrange(1, 16)
            data[place:place] = data[place:end]
    return bytes(data)
