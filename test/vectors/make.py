#!/usr/bin/env python3
"""Makes the vectors next to it: expected results that no code of this project computed.

    python3 test/vectors/make.py

Ed25519 is written out here from RFC 8032, and each verdict is compared with that of the package
`cryptography`. Trees and their proofs are written out from RFC 9162, section 2.1, by recursion. The
canonical JSON is what `json.dumps` prints, next to RFC 8785 for comparison. The output is the same
each time.
"""

import base64
import hashlib
import json
import pathlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

HERE = pathlib.Path(__file__).parent


def write(name, value):
    text = json.dumps(value, indent=1, ensure_ascii=True)
    (HERE / name).write_text(text + "\n", encoding="ascii")


# Ed25519: points are (x, y), with the plain formulas of the curve.

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT_OF_MINUS_1 = pow(2, (P - 1) // 4, P)
NEUTRAL = (0, 1)


def add(a, b):
    (x1, y1), (x2, y2) = a, b
    t = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + t, -1, P) % P
    y = (y1 * y2 + x1 * x2) * pow(1 - t, -1, P) % P
    return x, y


def times(n, point):
    total = NEUTRAL
    while n > 0:
        if n & 1:
            total = add(total, point)
        point = add(point, point)
        n >>= 1
    return total


def encode(point):
    x, y = point
    return (y | (x & 1) << 255).to_bytes(32, "little")


def decode(data):
    """None if the bytes are no point, or not its only encoding."""
    number = int.from_bytes(data, "little")
    y, sign = number & (1 << 255) - 1, number >> 255
    if len(data) != 32 or y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * ROOT_OF_MINUS_1 % P
    if x * x % P != square or (x == 0 and sign):
        return None
    return (P - x if x & 1 != sign else x), y


BASE = decode((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def challenge(r, key, message):
    return int.from_bytes(hashlib.sha512(r + key + message).digest(), "little") % L


def scalar_of(seed):
    digest = hashlib.sha512(seed).digest()
    a = int.from_bytes(digest[:32], "little") & (1 << 254) - 8 | 1 << 254
    return a, digest[32:]


def verdict(key, message, signature):
    """RFC 8032, 5.1.7, without the cofactor; and no key of small order, under which all is signed."""
    point = decode(key)
    if point is None or times(8, point) == NEUTRAL or len(signature) != 64:
        return False
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    if s >= L:
        return False
    x, y = times(challenge(r, key, message), point)
    return encode(add(times(s, BASE), (-x % P, y))) == r


def verdict_of_package(key, message, signature):
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


def seed_of(name):
    return hashlib.sha256(b"vector " + name.encode()).digest()


def flipped(data, bit):
    out = bytearray(data)
    out[bit >> 3] ^= 1 << (bit & 7)
    return bytes(out)


def ed25519_cases():
    def key_pair(name):
        private = Ed25519PrivateKey.from_private_bytes(seed_of(name))
        public = private.public_key().public_bytes_raw()
        assert public == encode(times(scalar_of(seed_of(name))[0], BASE))
        return private, public

    lengths = [0, 1, 31, 32, 33, 63, 64, 65, 111, 112, 127, 128, 129, 1000]
    for n, length in enumerate(lengths):
        private, key = key_pair(f"key {n}")
        message = (hashlib.sha256(b"%d" % n).digest() * 32)[:length]
        yield f"message of {length} bytes", key, message, private.sign(message)
    private, key = key_pair("key")
    message = "A head, ü, 水, 🌱".encode()
    good = private.sign(message)
    yield "text", key, message, good
    for bit in range(0, 512, 19):
        yield f"bit {bit} of the signature flipped", key, message, flipped(good, bit)
    for bit in range(0, 256, 17):
        yield f"bit {bit} of the key flipped", flipped(key, bit), message, good
    for bit in range(0, len(message) * 8, 13):
        yield f"bit {bit} of the message flipped", key, flipped(message, bit), good
    yield "another message", key, message + b"\0", good
    yield "another key", key_pair("other")[1], message, good
    yield "halves exchanged", key, message, good[32:] + good[:32]
    for length in [0, 1, 32, 63]:
        yield f"signature of {length} bytes", key, message, good[:length]
    yield "signature of 65 bytes", key, message, good + b"\0"
    yield "signature twice", key, message, good + good
    for length in [0, 31]:
        yield f"key of {length} bytes", key[:length], message, good
    yield "key of 33 bytes", key + b"\0", message, good
    yield from malleable(key, message, good)
    yield from other_points(message)


def malleable(key, message, good):
    r, s = good[:32], int.from_bytes(good[32:], "little")
    for n in [1, 2, 3, 8, 15]:
        if s + n * L < 2**256:
            yield f"S + {n} L", key, message, r + (s + n * L).to_bytes(32, "little")
    for name, other in [("0", 0), ("L - 1", L - 1), ("L", L), ("-S", L - s), ("2^256 - 1", 2**256 - 1)]:
        yield f"S is {name}", key, message, r + other.to_bytes(32, "little")
    for high in [0x20, 0x40, 0x80]:
        yield f"S with the bit {high:#x}", key, message, good[:-1] + bytes([good[-1] | high])
    # R is the neutral element: a valid signature, if and only if R has its only encoding.
    a, _ = scalar_of(seed_of("key"))
    for name, number in [("", 1), (", with a sign", 1 | 1 << 255), (", plus p", P + 1)]:
        neutral = number.to_bytes(32, "little")
        s = challenge(neutral, key, message) * a % L
        yield f"R is the neutral element{name}", key, message, neutral + s.to_bytes(32, "little")


def torsion():
    """A point of order 8."""
    y = 0
    while True:
        y += 1
        point = decode(y.to_bytes(32, "little"))
        if point is None:
            continue
        small = times(L, point)
        if times(4, small) != NEUTRAL:
            return small


def other_points(message):
    small = torsion()
    for n in range(8):
        key = encode(times(n, small))
        # Under such a key, S = 0 and R = -k A are valid for all: for some message R is the neutral one.
        for m in range(64):
            r, said = encode(NEUTRAL), b"%d" % m
            if times(challenge(r, key, said), decode(key)) == NEUTRAL:
                yield f"key of small order {n}", key, said, r + bytes(32)
                break
    for name, number in [("p", P), ("p + 1", P + 1), ("2^255 - 1", 2**255 - 1), ("-0", 1 | 1 << 255)]:
        yield f"key is {name}", number.to_bytes(32, "little"), message, encode(NEUTRAL) + bytes(32)
    off = next(y for y in range(2, 99) if decode(y.to_bytes(32, "little")) is None)
    yield "key is off the curve", off.to_bytes(32, "little"), message, encode(NEUTRAL) + bytes(32)
    # A key with a part of small order: valid only where the challenge is a multiple of 8.
    a, _ = scalar_of(seed_of("mixed"))
    key = encode(add(times(a, BASE), small))
    wanted = [True, False, False]
    m = 0
    while wanted:
        m += 1
        said = b"mixed %d" % m
        nonce = int.from_bytes(hashlib.sha512(said).digest(), "little") % L
        r = encode(times(nonce, BASE))
        k = challenge(r, key, said)
        if wanted[0] == (k % 8 == 0):
            s = (nonce + k * a) % L
            holds = "" if wanted.pop(0) else ", not"
            yield f"key of mixed order{holds} valid", key, said, r + s.to_bytes(32, "little")


def make_ed25519():
    cases = []
    for comment, key, message, signature in ed25519_cases():
        is_valid = verdict(key, message, signature)
        # The package takes a key of small order, in any encoding. The project refuses it.
        if comment.startswith(("key of small order", "key is ")):
            assert not is_valid, comment
        else:
            assert verdict_of_package(key, message, signature) == is_valid, comment
        cases.append(
            {
                "comment": comment,
                "key": key.hex(),
                "message": message.hex(),
                "signature": signature.hex(),
                "isValid": is_valid,
            }
        )
    write("ed25519.json", cases)
    return cases


# Trees of RFC 9162, 2.1.


def leaf_of(n):
    return hashlib.sha256(b"\0" + b"leaf %d" % n).digest()


def node(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


def split(n):
    """The largest power of two smaller than n."""
    k = 1
    while k * 2 < n:
        k *= 2
    return k


def root_of(leaves):
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = split(len(leaves))
    return node(root_of(leaves[:k]), root_of(leaves[k:]))


def path(m, leaves):
    if len(leaves) <= 1:
        return []
    k = split(len(leaves))
    if m < k:
        return path(m, leaves[:k]) + [root_of(leaves[k:])]
    return path(m - k, leaves[k:]) + [root_of(leaves[:k])]


def subproof(m, leaves, is_known):
    if m == len(leaves):
        return [] if is_known else [root_of(leaves)]
    k = split(len(leaves))
    if m <= k:
        return subproof(m, leaves[:k], is_known) + [root_of(leaves[k:])]
    return subproof(m - k, leaves[k:], False) + [root_of(leaves[:k])]


def is_included(index, size, leaf, proof, root):
    """2.1.3.2."""
    if index >= size or index < 0:
        return False
    fn, sn, r = index, size - 1, leaf
    for p in proof:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            r = node(p, r)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = node(r, p)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and r == root


def is_consistent(first, second, root1, root2, proof):
    """2.1.4.2; and of a tree with itself, an empty proof."""
    if first == second:
        return not proof and root1 == root2
    if first <= 0 or first > second or not proof:
        return False
    proof = [root1, *proof] if first & (first - 1) == 0 else proof
    fn, sn = first - 1, second - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = proof[0]
    for c in proof[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = node(c, fr), node(c, sr)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = node(sr, c)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and fr == root1 and sr == root2


def text(data):
    return base64.b64encode(data).decode()


def broken_proofs(proof):
    for n in range(len(proof)):
        yield f"hash {n} flipped", [flipped(h, 77) if m == n else h for m, h in enumerate(proof)]
        yield f"hash {n} left out", proof[:n] + proof[n + 1 :]
        yield f"hash {n} twice", proof[: n + 1] + proof[n:]
        yield f"hash {n} cut", [h[:31] if m == n else h for m, h in enumerate(proof)]
    if len(proof) > 1:
        yield "reversed", proof[::-1]
        yield "empty", []
    yield "a hash more", [*proof, bytes(32)]
    yield "a hash before", [bytes(32), *proof]
    yield "too many hashes", [*proof, *[bytes(32)] * 64]


def make_inclusion():
    cases = []

    def add(name, want, index, size, leaf, proof, root):
        holds = all(len(h) == 32 for h in proof) and is_included(index, size, leaf, proof, root)
        if want is None and holds:
            return  # A claim about another size that is true as well.
        assert holds == bool(want), name
        hashes = {"leafHash": text(leaf), "root": text(root), "proof": [text(h) for h in proof]}
        cases.append({"name": name, "leafIdx": index, "treeSize": size, **hashes, "wantErr": not holds})

    for size in [*range(1, 10), 16, 17, 33, 100]:
        leaves = [leaf_of(n) for n in range(size)]
        root = root_of(leaves)
        for index in range(size) if size < 10 else sorted({0, 1, size // 2, size - 2, size - 1}):
            proof = path(index, leaves)
            name = f"leaf {index} of {size}"
            add(name, True, index, size, leaves[index], proof, root)
            if size not in (1, 2, 7, 17) or index not in (0, 3, 6, 16):
                continue
            for fault, broken in broken_proofs(proof):
                add(f"{name}: {fault}", False, index, size, leaves[index], broken, root)
            add(f"{name}: another leaf", False, index, size, leaf_of(size), proof, root)
            add(f"{name}: another root", False, index, size, leaves[index], proof, flipped(root, 3))
            for other in [index + 1, index - 1, size, size + 1, 2**40, 2**53 - 1]:
                add(f"{name}: as leaf {other}", None, other, size, leaves[index], proof, root)
            for other in [0, 1, size - 1, size + 1, 2 * size, 2**40, 2**53 - 1]:
                if other != size:
                    add(f"{name}: of {other} leaves", None, index, other, leaves[index], proof, root)
    write("inclusion.json", cases)
    return cases


def make_consistency():
    cases = []

    def add(name, want, size1, size2, root1, root2, proof):
        holds = all(len(h) == 32 for h in proof) and is_consistent(size1, size2, root1, root2, proof)
        if want is None and holds:
            return
        assert holds == bool(want), name
        hashes = {"root1": text(root1), "root2": text(root2), "proof": [text(h) for h in proof]}
        cases.append({"name": name, "size1": size1, "size2": size2, **hashes, "wantErr": not holds})

    pairs = [(m, n) for n in range(1, 10) for m in range(1, n + 1)]
    more = [(1, 16), (8, 16), (15, 16), (16, 17), (3, 33), (32, 33), (33, 33), (64, 100), (99, 100)]
    for size1, size2 in pairs + more:
        leaves = [leaf_of(n) for n in range(size2)]
        roots = root_of(leaves[:size1]), root_of(leaves)
        proof = subproof(size1, leaves, True)
        name = f"{size1} to {size2}"
        add(name, True, size1, size2, *roots, proof)
        if (size1, size2) not in [(1, 2), (3, 7), (4, 7), (6, 8), (5, 5), (16, 17), (3, 33)]:
            continue
        for fault, broken in broken_proofs(proof):
            add(f"{name}: {fault}", False, size1, size2, *roots, broken)
        add(f"{name}: another first root", False, size1, size2, flipped(roots[0], 3), roots[1], proof)
        add(f"{name}: another second root", False, size1, size2, roots[0], flipped(roots[1], 3), proof)
        if size1 != size2:
            add(f"{name}: roots exchanged", False, size1, size2, roots[1], roots[0], proof)
            add(f"{name}: sizes exchanged", False, size2, size1, *roots, proof)
        for other in [size1 - 1, size1 + 1, size2 + 1, 2**40, 2**53 - 1]:
            if other > 0:
                add(f"{name}: from {other}", None, other, size2, *roots, proof)
        for other in [0, size2 - 1, size2 + 1, 2 * size2, 2**40, 2**53 - 1]:
            add(f"{name}: to {other}", None, size1, other, *roots, proof)
    write("consistency.json", cases)
    return cases


def make_roots():
    sizes = [*range(0, 34), 63, 64, 65, 100, 127, 128, 129, 255, 256, 257]
    leaves = [leaf_of(n) for n in range(max(sizes))]
    write("roots.json", {str(size): root_of(leaves[:size]).hex() for size in sizes})


# Canonical JSON.

TEXTS = {
    "empty": ["{}", "[]", '""', "null", "true", "false", "0"],
    "integers": [
        *["-0", "-1", "9007199254740991", "9007199254740993", "18446744073709551616"],
        "[" + "1" * 60 + ",-" + "9" * 40 + "]",
    ],
    "numbers": [
        *["-0.0", "1.0", "56.0", "0.1", "1e0", "1E2", "1e+2", "100e-2", "1e15", "1e16", "1e17"],
        *["1e20", "1e21", "1e22", "123456789.123456789", "1e-4", "1e-5", "0.0001", "0.00001"],
        *["1e-6", "1e-7", "5e-324", "1.7976931348623157e308", "2.2250738585072014e-308"],
        *["4.35", "0.30000000000000004", "333333333.33333329", "9007199254740993.0", "1.5e300"],
    ],
    "strings": [
        r'"\u0000\u0001\b\t\n\f\r\u001f\u007f\u0080"',
        r'"\"\\\/ < > & '  + "'" + '"',
        '"ü ß é ñ"',
        '"水 🌱 \u2028 \u2029 \ufeff \uffff"',
        r'"\uD83C\uDF31 \u20ac \u00fc"',
        '"e\u0301 \u00e9"',
    ],
    "keys": [
        '{"b":1,"a":2,"":3,"A":4,"aa":5," ":6}',
        '{"10":1,"9":2,"1":3,"-1":4}',
        '{"\ufb33":1,"\U0001f602":2,"\u20ac":3,"\\r":4,"1":5,"\u0080":6,"ö":7,"</script>":8}',
        '{"peach":1,"péché":2,"pêche":3,"sin":4}',
        '{"constructor":1,"__proto__":2,"toString":3}',
    ],
    "structures": [
        '[56, {"d": true, "10": null, "1": []}]',
        '{"1": {"f": {"f": "hi", "F": 5}, "\\n": 56.0}, "": "empty", "a": {}, "111": [{"e": "y"}]}',
        ' {\n\t"x" : [ 1 , 2.50 , [ ] , { } ] ,\r\n "w":"" } ',
        "[" * 60 + "]" * 60,
    ],
}


def jcs(value):
    """RFC 8785: as JavaScript prints it, keys by UTF-16."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{jcs(key)}:{jcs(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(jcs, value)) + "]"
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return ecmascript(float(value))


def ecmascript(number):
    """ECMA-262, Number::toString."""
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + ("" if fraction == "0" else fraction)).lstrip("0")
    n = len(whole) + int(exponent or 0) if whole != "0" else len(digits) - len(fraction)
    n = n + int(exponent or 0) if whole == "0" else n
    digits = digits.rstrip("0") or "0"
    k = len(digits)
    if k <= n <= 21:
        return sign + digits + "0" * (n - k)
    if 0 < n <= 21:
        return sign + digits[:n] + "." + digits[n:]
    if -6 < n <= 0:
        return sign + "0." + "0" * -n + digits
    point = digits[0] + ("." + digits[1:] if k > 1 else "")
    return f"{sign}{point}e{'+' if n > 0 else '-'}{abs(n - 1)}"


def make_json():
    cases = []
    for kind, texts in TEXTS.items():
        for each in texts:
            value = json.loads(each)
            cases.append(
                {
                    "kind": kind,
                    "input": each,
                    "canonical": json.dumps(value, sort_keys=True, separators=(",", ":")),
                    "file": json.dumps(value, indent=2),
                    "jcs": jcs(value),
                }
            )
    write("json.json", cases)


if __name__ == "__main__":
    ed25519 = make_ed25519()
    print(sum(case["isValid"] for case in ed25519), "of", len(ed25519), "signatures are valid")
    for kind, made in [("inclusion", make_inclusion()), ("consistency", make_consistency())]:
        good = sum(not case["wantErr"] for case in made)
        print(good, "proofs of", kind, "are valid and", len(made) - good, "are not")
    make_roots()
    make_json()
