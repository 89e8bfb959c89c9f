"""All fields of a checkpoint about its log, computed again from the format's documentation alone.

    python3 recompute.py PUBLIC_PEM    one question a line on stdin, one answer a line on stdout, in JSON

A question is {"log": path, "sidecar": path or null}. The answer counts the checkpoints, lists
the fields that differ from those computed here, and has the hash of the first string that can be withheld.
The key may have been rotated: a `rotate` checkpoint names the next one, and carries it.
"""

import base64
import hashlib
import json
import struct
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

DOMAIN = b"verbatim/checkpoint/v2\n"


def sha256(*parts):
    return hashlib.sha256(b"".join(parts))


def salts(salt, index, count):
    """Blocks of the AES-256-CTR key stream, the first counter u64be(index), u64be(0)."""
    counter = struct.pack(">QQ", index, 0)
    stream = Cipher(algorithms.AES(salt), modes.CTR(counter)).encryptor().update(bytes(16 * count))
    return [stream[16 * j : 16 * (j + 1)] for j in range(count)]


def parts_of(line, least):
    """Contents of strings of at least `least` bytes: (at, length)."""
    found = []
    at = 0
    while least > 0:
        opening = line.find(b'"', at)
        if opening == -1:
            break
        closing = opening
        while True:
            closing = line.find(b'"', closing + 1)
            if closing == -1:
                return found
            before = line[opening + 1 : closing]
            if (len(before) - len(before.rstrip(b"\\"))) % 2 == 0:
                break
        if closing - opening - 1 >= least:
            found.append((opening + 1, closing - opening - 1))
        at = closing + 1
    return found


def leaf_of(line, index, salt, least):
    parts = parts_of(line, least)
    own, *theirs = salts(salt, index, len(parts) + 1)
    hashes = [
        sha256(b"\x02", theirs[j], line[at : at + length]).digest()
        for j, (at, length) in enumerate(parts)
    ]
    rest, end = b"", 0
    for at, length in parts:
        rest += line[end:at]
        end = at + length
    rest += line[end:]
    listed = b"".join(
        struct.pack(">II", at, length) + hashes[j] for j, (at, length) in enumerate(parts)
    )
    leaf = sha256(b"\x00", own, struct.pack(">I", len(parts)), listed, rest).digest()
    return leaf, hashes


def root_of(leaves):
    """RFC 6962, 2.1."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01", root_of(leaves[:split]), root_of(leaves[split:])).digest()


def is_signed(key, statement, sig):
    try:
        key.verify(base64.urlsafe_b64decode(sig + "=" * (-len(sig) % 4)), statement)
        return True
    except (InvalidSignature, ValueError):
        return False


def raw_of(key):
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def is_checkpoint(line):
    value = json.loads(line)
    return isinstance(value, dict) and value.get("event_type") == "checkpoint"


def split_lines(data):
    assert data.endswith(b"\n") or not data
    return data.split(b"\n")[:-1]


def recompute(log, sidecar, key):
    lines = split_lines(log)
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    if sidecar is None:
        found = [(line, starts[n], n) for n, line in enumerate(lines) if is_checkpoint(line)]
    else:
        ends = {start: n for n, start in enumerate(starts)}
        ends[at] = len(lines)
        found = [
            (line, json.loads(line)["payload"]["byte_offset"], None)
            for line in split_lines(sidecar)
        ]
        found = [(line, place, ends[place]) for line, place, _ in found]

    genesis = json.loads(found[0][0])["payload"]
    salt, least = bytes.fromhex(genesis["salt"]), genesis["parts"]
    hashed = [leaf_of(line, n, salt, least) for n, line in enumerate(lines)]
    leaves = [leaf for leaf, _ in hashed]
    prev, begin, wrong = "0" * 64, 0, []
    for seq, (line, place, count) in enumerate(found):
        said = json.loads(line)["payload"]
        covered = log[:place] if sidecar is None else salt + log[:place]
        digest = sha256(covered).hexdigest()
        computed = {
            "byte_offset": place,
            "hash": digest,
            "seq": seq,
            "prev": prev,
            "log": sha256(salt).hexdigest()[:32],
            "seg": sha256(*leaves[begin:count]).hexdigest(),
            "tree": {"size": count, "root": root_of(leaves[:count]).hex()},
            "kid": sha256(raw_of(key)).hexdigest(),
        }
        if sidecar is not None and seq == 1:
            computed["genesis"] = facts_hash(genesis)
        elif "genesis" in said:
            wrong.append([seq, "genesis"])
        wrong += [[seq, name] for name, value in computed.items() if said.get(name) != value]
        if not is_signed(key, digest.encode("ascii"), said["sig"]):
            wrong.append([seq, "sig"])
        if line[-97:] != b'"sig2":"' + said["sig2"].encode("ascii") + b'"}}':
            wrong.append([seq, "the last 97 bytes"])
        if not is_signed(key, DOMAIN + line[:-97], said["sig2"]):
            wrong.append([seq, "sig2"])
        if said["kind"] == "rotate":
            key = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(said["key"] + "="))
            if said["next"] != sha256(raw_of(key)).hexdigest():
                wrong.append([seq, "next"])
        prev = sha256(line, b"\n").hexdigest()
        begin = count + (1 if sidecar is None else 0)
    withheld = next(((n, hashes[0].hex()) for n, (_, hashes) in enumerate(hashed) if hashes), None)
    return {"checkpoints": len(found), "wrong": wrong, "withheld": withheld}


FACTS = "turn byte_offset fp ts log size rev kid parts from found vouched".split()


def facts_hash(genesis):
    facts = {**genesis, "size": genesis["tree"]["size"]}
    spelled = json.dumps({key: facts[key] for key in FACTS}, separators=(",", ":"))
    return sha256(spelled.encode("ascii")).hexdigest()


def read(path):
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__":
    public = serialization.load_pem_public_key(read(sys.argv[1]))
    for asked in sys.stdin:
        question = json.loads(asked)
        sidecar = question["sidecar"]
        print(json.dumps(recompute(read(question["log"]), sidecar and read(sidecar), public)))
