"""The seed's canonical JSON, by Python itself: the oracle of src/trust/proof/canonical-json.ts.

    python3 canonical.py generate SEED COUNT   prints random JSON texts and their canonical forms
    python3 canonical.py answer                reads JSON texts, prints their canonical forms

Each line is JSON, so that a text may hold line ends. `answer` takes `[text]` and gives
`[canonical]`; it takes `[text, "indented"]` and gives `[canonical, indented]`, where `indented` is
what Python writes to a thread.json, which takes ten times as long; or it gives `[null]`, when it
cannot read the text. The generator writes texts by hand rather than with json.dumps: to find out
whether two readers agree, every spelling must be tried, not only Python's own.
"""

import json
import math
import random
import struct
import sys
from fractions import Fraction


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def answer():
    for line in sys.stdin:
        text, *wanted = json.loads(line)
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            print("[null]")
            continue
        indented = [json.dumps(value, indent=2)] if wanted else []
        print(json.dumps([canonical(value), *indented]))


SPACES = ["", "", "", " ", "\n", "\t", "\r\n", "  "]
SHORT = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 47: "\\/", 92: "\\\\"}
KEYS = ["__proto__", "constructor", "7", "10", "-1", "", "a", "A", "_signature", "toString"]
# Boundaries: of escaping, of length in UTF-8 or UTF-16, of sort order.
RANGES = [
    (0x20, 0x7E),
    (0x61, 0x66),
    (0x00, 0x24),
    (0x7E, 0xA0),
    (0xA0, 0x7FF),
    (0x2027, 0x202A),
    (0xD7FE, 0xD7FF),
    (0xE000, 0xE001),
    (0xFFF0, 0xFFFF),
    (0x10000, 0x10001),
    (0x1F600, 0x1F64F),
    (0x10FFFE, 0x10FFFF),
]
# Where Python begins to write an exponent, and at the limits of a double.
POWERS = [-324, -323, -308, -6, -5, -4, -3, -1, 0, 1, 15, 16, 17, 21, 22, 307, 308]
MANTISSAS = ["0", "1", "-1", "9", "9.999999999999999", "1.0", "-1.5", "4.9", "1.7976931348623157"]


def spellings(character):
    code = ord(character)
    if code >= 0x20 and character not in '"\\':
        yield character
    if code in SHORT:
        yield SHORT[code]
    units = struct.unpack(">%dH" % (1 if code < 0x10000 else 2), character.encode("utf-16-be"))
    yield "".join("\\u%04x" % unit for unit in units)
    yield "".join("\\u%04X" % unit for unit in units)


CHARACTERS = [[chr(code) for code in range(low, high + 1)] for low, high in RANGES]
SPELLINGS = {one: list(spellings(one)) for some in CHARACTERS for one in some}


class Texts:
    """Random JSON texts that we accept: every key once, finite, no half of a surrogate pair."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.unit = self.random.random

    def below(self, bound):
        return int(self.unit() * bound)

    def pick(self, choices):
        return choices[int(self.unit() * len(choices))]

    def raw(self):
        return "".join([self.pick(self.pick(CHARACTERS)) for _ in range(self.below(5))])

    def string(self, text):
        return '"' + "".join([self.pick(SPELLINGS[one]) for one in text]) + '"'

    def key(self):
        return self.pick(KEYS) if self.unit() < 0.3 else self.raw()

    def double(self):
        """Any finite double: all bit patterns are equally likely."""
        value = struct.unpack(">d", self.random.randbytes(8))[0]
        return value if abs(value) < math.inf else self.double()

    def digits(self, most):
        return str(self.random.getrandbits(4 * most))[:most]

    def integer(self):
        return self.pick(["", "-"]) + self.digits(self.pick([1, 1, 2, 4, 16, 17, 20, 40, 300]))

    def decimal(self):
        text = self.integer()
        if self.unit() < 0.7:
            text += "." + self.digits(self.pick([1, 2, 8, 20, 60]))
        if "." not in text or self.unit() < 0.6:
            text += self.pick("eE") + self.pick(["", "+", "-"]) + self.digits(self.pick([1, 2, 3]))
        return text

    def halfway(self):
        """Exactly midway between two doubles, or slightly more: where rounding is hardest."""
        value = abs(self.double())
        above = math.nextafter(value, math.inf)
        if above == math.inf:
            return self.halfway()
        middle = (Fraction(value) + Fraction(above)) / 2
        # A power of two below the line is a power of ten after multiplying by one of five.
        places = middle.denominator.bit_length() - 1
        digits = str(middle.numerator * 5**places).rjust(places + 1, "0")
        text = digits[: len(digits) - places] + "." + digits[len(digits) - places :]
        return text + self.pick(["0", "0" * 300 + "1"])

    def number(self):
        kind = self.unit()
        if kind < 0.3:
            return self.integer()
        if kind < 0.7:
            return repr(self.double())
        if kind < 0.701:
            return self.halfway()
        text = self.decimal() if kind < 0.9 else "%se%d" % (self.pick(MANTISSAS), self.pick(POWERS))
        return text if abs(float(text)) < math.inf else self.number()

    def value(self, depth):
        kind = self.unit()
        if depth > 0 and kind < 0.35:
            keys = dict.fromkeys([self.key() for _ in range(self.below(5))])
            fields = [self.around(self.string(key)) + ":" + self.padded(depth - 1) for key in keys]
            return "{" + (",".join(fields) or self.pick(SPACES)) + "}"
        if depth > 0 and kind < 0.5:
            items = [self.padded(depth - 1) for _ in range(self.below(5))]
            return "[" + (",".join(items) or self.pick(SPACES)) + "]"
        if kind < 0.8:
            return self.number()
        return self.string(self.raw()) if kind < 0.95 else self.pick(["null", "true", "false"])

    def padded(self, depth):
        return self.around(self.value(depth))

    def around(self, text):
        return self.pick(SPACES) + text + self.pick(SPACES)


def generate(seed, count):
    texts = Texts(seed)
    for n in range(count):
        # Mostly shallow; sometimes as deep as the limit.
        deep = 64 - 3 if n % 1000 == 0 else 0
        text = "[" * deep + texts.padded(3) + "]" * deep
        print(json.dumps([text, canonical(json.loads(text))]))


if __name__ == "__main__":
    if sys.argv[1] == "generate":
        generate(int(sys.argv[2]), int(sys.argv[3]))
    else:
        answer()
