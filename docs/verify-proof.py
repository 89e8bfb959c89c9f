#!/usr/bin/env python3
"""Checks a proof (.vbp) or a disclosed copy (.vbd) of Verbatim with Python's standard library alone.

    python3 verify-proof.py FILE [KEY.pem ...]

Prints the verdict and the lines that are proven. Exit codes are those of `verbatim verify`: 0 verified,
1 tampered, 4 untrusted, 5 incomplete, 7 unreadable. Written from docs/formats/proof.md,
disclosure.md and checkpoint.md, to show how little is needed; it knows no pinned heads and no revoked keys.
"""

import base64
import functools
import hashlib
import json
import re
import sys

EXIT = {"verified": 0, "tampered": 1, "untrusted": 4, "incomplete": 5, "unreadable": 7}


class Bad(Exception):
    """Ends the check: the proof is tampered, or unreadable."""


def need(condition, why):
    if not condition:
        raise Bad("tampered", why)


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def unbase64(text):
    need(re.fullmatch(r"[A-Za-z0-9_-]*", text), "not base64url")
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise Bad("tampered", "not base64url")
    need(base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text, "not the one spelling of base64url")
    return data


# Ed25519, RFC 8032, 5.1 and 6.
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SMALL_Y = {1, P - 1, 0, 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7}
SMALL_Y |= {P - 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7}


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(n, p):
    q = (0, 1, 1, 0)
    while n:
        q, p, n = (add(q, p) if n & 1 else q), add(p, p), n >> 1
    return q


def point(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - x2) % P or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


BASE = point(b"\x58" + b"\x66" * 31)


@functools.lru_cache(maxsize=None)
def is_signed(key, message, signature):
    if int.from_bytes(key, "little") & (2**255 - 1) in SMALL_Y or len(signature) != 64:
        return False
    a, r, s = point(key), point(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    p, q = times(s, BASE), add(r, times(h, a))
    return (p[0] * q[2] - q[0] * p[2]) % P == 0 and (p[1] * q[2] - q[1] * p[2]) % P == 0


# Leaves and trees.


def strings(line, least):
    """The contents of the long strings of a line: (at, length)."""
    found, quote = [], line.find(b'"')
    while least and quote != -1:
        end = line.find(b'"', quote + 1)
        while end != -1 and (len(line[:end]) - len(line[quote + 1 : end].rstrip(b"\\")) - quote - 1) % 2:
            end = line.find(b'"', end + 1)
        if end == -1:
            break
        if end - quote - 1 >= least:
            found.append((quote + 1, end - quote - 1))
        quote = line.find(b'"', end + 1)
    return found


def leaf(line, least, salts, gaps):
    """The leaf of a line whose withheld strings, `gaps`, are filled with anything of their length."""
    parts, salts = strings(line, least), [salts[at : at + 16] for at in range(0, len(salts), 16)]
    need(salts and len(salts[-1]) == 16 and len(salts) == 1 + len(parts) - len(gaps), "other salts")
    table, rest, left, end = b"", b"", list(gaps), 0
    shown = iter(salts[1:])
    for at, length in parts:
        if left and (left[0]["at"], left[0]["len"]) == (at, length):
            part = bytes.fromhex(left.pop(0)["part"])
        else:
            part = sha256(b"\2", next(shown, b""), line[at : at + length])
        table += at.to_bytes(4, "big") + length.to_bytes(4, "big") + part
        rest += line[end:at]
        end = at + length
    need(not left, "a gap is not a string of its line")
    return sha256(b"\0", salts[0], len(parts).to_bytes(4, "big"), table, rest + line[end:])


def node(left, right):
    return sha256(b"\1", left, right)


def is_included(hash, index, tree, path):
    at, last = index, tree["size"] - 1
    for other in path:
        if last == 0:
            return False
        if at % 2 or at == last:
            hash = node(other, hash)
            while at % 2 == 0 and at:
                at, last = at >> 1, last >> 1
        else:
            hash = node(hash, other)
        at, last = at >> 1, last >> 1
    return index < tree["size"] and last == 0 and hash.hex() == tree["root"]


def is_consistent(one, two, path):
    if one["size"] == two["size"]:
        return not path and one["root"] == two["root"]
    if not 0 < one["size"] < two["size"]:
        return False
    at, last = one["size"] - 1, two["size"] - 1
    while at % 2:
        at, last = at >> 1, last >> 1
    path = list(path) if at else [bytes.fromhex(one["root"])] + path
    if not path:
        return False
    first = second = path[0]
    for other in path[1:]:
        if last == 0:
            return False
        if at % 2 or at == last:
            first, second = node(other, first), node(other, second)
            while at % 2 == 0 and at:
                at, last = at >> 1, last >> 1
        else:
            second = node(second, other)
        at, last = at >> 1, last >> 1
    return last == 0 and first.hex() == one["root"] and second.hex() == two["root"]


# Checkpoints: one pattern for each envelope; no JSON is parsed before it matches.
TEXT = r'"(?:[ !#-\[\]-~]|\\["\\bfnrt]|\\u[0-9a-f]{4})*"'
N, H, LOG = "(?:0|[1-9][0-9]{0,15})", '"[0-9a-f]{64}"', '"[0-9a-f]{32}"'
TIME = r'"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z"'
FOUND = rf'"found":(?:null|\[{N},{N}\]),"vouched":(?:true|false),'
MID = (
    rf',"log":{LOG},"seq":{N},"prev":{H},"seg":{H},"tree":\{{"size":{N},"root":{H}\}},"rev":{N},"kid":{H},'
)
KINDS = [
    rf'"genesis"{MID}"salt":{H},"parts":{N},"from":(?:null|\{{"log":{LOG},"seq":{N},"line":{H},"at":{N}\}}),{FOUND}',
    rf'"recovery"{MID}"cut":{N},{FOUND}"lost":(?:null|\{{"seq":{N},"line":{H}\}}),',
    rf'"rotate"{MID}"next":{H},(?:"key":"[A-Za-z0-9_-]{{42}}[AEIMQUYcgkosw048]",)?',
    rf'"link"{MID}"to":\{{"id":{TEXT},"log":{LOG}\}},',
    rf'"(?:turn|batch|final)"{MID}',
]
BODY = (
    rf'"event_type":"checkpoint","payload":\{{"turn":{N},"byte_offset":{N},"hash":{H},'
    rf'"sig":"[A-Za-z0-9_-]{{85}}[AQgw]==","fp":"[0-9a-f]{{16}}","ts":{TIME},"v":2,"kind":(?:{"|".join(KINDS)})'
)
SIG2 = r'"sig2":"[A-Za-z0-9_-]{85}[AQgw]"\}\}'
FLAT = rf'\{{"ts":{TEXT},"type":"checkpoint","thread_id":{TEXT},"directive":{TEXT},{BODY}{SIG2}'
NAMED = rf'\{{"timestamp":{TEXT},"thread_id":{TEXT},{BODY}'
PAYLOAD, SIDECAR = NAMED + SIG2, rf'{NAMED}(?:"genesis":{H},)?{SIG2}'
ENTIRE = (
    rf'\{{"type":"checkpoint","sessionId":{TEXT},"uuid":{TEXT},"parentUuid":(?:null|{TEXT}),'
    rf'"timestamp":{TEXT},"cwd":{TEXT},"version":{TEXT},{BODY}{SIG2}'
)
ENVELOPES = {"rye": [FLAT, PAYLOAD], "entire": [ENTIRE]}


def checkpoint(line, dialect):
    """The fields of a checkpoint's line, without LF; None if it is not one."""
    text = line.decode("latin1")
    if len(line) > 65536 or not any(re.fullmatch(each, text) for each in ENVELOPES.get(dialect, [SIDECAR])):
        return None
    said = json.loads(text)
    if any(int(each) >= 2**53 for each in re.findall(r"(?<=[:\[,])[0-9]{16}(?=[,\]}])", text)):
        return None
    session = said["sessionId"] if dialect == "entire" else said["thread_id"]
    said = said["payload"]
    # Only checkpoint 1 of a sidecar file says what its genesis states.
    if "genesis" in said and (said["seq"] != 1 or said["kind"] == "genesis"):
        return None
    return {**said, "session": session}


def is_session_of(dialect, session):
    """Checkpoints of a sidecar file are spelled like some of rye's: the name tells whose they are."""
    if dialect in ENVELOPES:
        return dialect == "entire" or ":" not in session
    return session.startswith(dialect + ":")


def hash_of_facts(facts):
    """What checkpoint 1 of a sidecar file says of its genesis."""
    said = {key: value for key, value in facts.items() if key not in ("line", "leaf")}
    return sha256(json.dumps(said, separators=(",", ":")).encode()).hex()


def kid_of(key):
    return sha256(key).hex()


def fp_of(key):
    spki = base64.b64encode(bytes.fromhex("302a300506032b6570032100") + key).decode()
    return sha256(f"-----BEGIN PUBLIC KEY-----\n{spki}\n-----END PUBLIC KEY-----\n".encode()).hex()[:16]


def fill(rest, gaps, with_=b"x"):
    line, at = b"", 0
    for gap in gaps:
        shown = gap["at"] - len(line)
        need(0 <= shown <= len(rest) - at and gap["len"] <= 2**24, "a gap is not in its line")
        line += rest[at : at + shown] + with_ * gap["len"]
        at += shown
    return line + rest[at:]


SECRETS = [("hash", 64), ("sig", 88), ("salt", 64), ("sig2", 86)]
GENESIS = {"hash": b"0" * 64, "sig": b"A" * 86 + b"==", "salt": b"0" * 64, "sig2": b"A" * 86}


def open_genesis(rest, gaps):
    line = fill(rest, gaps)
    need(len(gaps) == 4, "genesis shows other strings")
    for gap, (key, length) in zip(gaps, SECRETS):
        before = f'"{key}":"'.encode()
        need(gap["len"] == length and line[: gap["at"]].endswith(before), "genesis shows other strings")
        line = line[: gap["at"]] + GENESIS[key] + line[gap["at"] + length :]
    return line


# What the fields of a record may hold; others are text.


def is_count(value):
    return type(value) is int and 0 <= value < 2**53


def is_text(pattern):
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


def is_object(**fields):
    return lambda it: isinstance(it, dict) and list(it) == list(fields) and all(f(it[k]) for k, f in fields.items())


def is_pair(value):
    return isinstance(value, list) and len(value) == 2 and all(map(is_count, value))


def or_null(check):
    return lambda value: value is None or check(value)


is_hash, is_log, is_time = is_text("[0-9a-f]{64}"), is_text("[0-9a-f]{32}"), is_text(TIME.strip('"'))
is_gap = is_object(at=is_count, len=is_count, part=is_hash)
is_head = is_object(log=is_log, seq=is_count, line=is_hash, at=is_count)
is_facts = is_object(
    **{"turn": is_count, "byte_offset": is_count, "fp": is_text("[0-9a-f]{16}"), "ts": is_time, "log": is_log},
    **{"size": is_count, "rev": is_count, "kid": is_hash, "parts": is_count, "from": or_null(is_head)},
    **{"found": or_null(is_pair), "vouched": lambda it: type(it) is bool, "line": is_hash},
    leaf=lambda it: it is None,
)
CHECKS = {
    "verbatim": lambda it: it == "proof",
    "v": lambda it: it == 1,
    "dialect": is_text("[a-z][a-z0-9-]{0,31}"),
    "content": is_text("lines|bytes"),
    "parts": is_count,
    "checkpoint": is_count,
    "index": is_count,
    "entry": or_null(is_count),
    "without": lambda it: isinstance(it, list) and len(it) > 0 and all(map(is_gap, it)),
    "genesis": lambda it: isinstance(it, str) or is_facts(it),
    "consistency": is_pair,
    "end": is_object(bytes=is_count, sha256=is_hash),
    "kid": is_hash,
    "ts": is_time,
}
KEYS = {
    ("verbatim", "v", "dialect", "content", "parts"): 0,
    ("genesis", "without", "path"): 1,
    ("genesis", "ts", "kid", "sig"): 1,
    ("checkpoint",): 2,
    ("line", "index", "entry", "path"): 3,
    ("line", "without", "index", "entry", "path"): 3,
    ("bytes", "salt", "index", "entry", "path"): 3,
    ("consistency", "path"): 4,
    ("end",): 5,
}


def line_at(data, at):
    end = data.find(b"\n", at)
    need(end != -1, "its last line does not end")
    return data[at:end], end + 1


def read_record(line, name, known, checks):
    """A record in its one spelling."""
    try:
        record = json.loads(line.decode("ascii"))
    except (ValueError, RecursionError):
        raise Bad("tampered", "a record is not JSON")
    need(isinstance(record, dict), "a record is not an object")
    if record.get("verbatim") == name and type(record.get("v")) is int and record["v"] > 1:
        raise Bad("unreadable", "a newer format")
    need(tuple(record) in known, "a record has other keys")
    spelled = json.dumps(record, separators=(",", ":")).replace("\x7f", "\\u007f")
    need(spelled == line.decode("ascii"), "a record is spelled otherwise")
    for key, value in record.items():
        need(checks.get(key, lambda it: isinstance(it, str))(value), f"{key} is not what it must be")
    if "sig" in record:
        need(len(record["sig"]) == 86 and unbase64(record["sig"]), "sig")
    return record


def is_claim(line):
    """Whether an ordinary line of a log claims to be a checkpoint."""
    try:
        said = json.loads(line) if b'"checkpoint"' in line else None
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and "checkpoint" in (said.get("type"), said.get("event_type"))


class Reader:
    """Keys, and the rotations that name further ones."""

    def __init__(self, keys):
        self.keys, self.named = {kid_of(key): key for key in keys}, None
        self.of_first = set()  # The key of checkpoint 1, and those that rotations lead to from it.

    def key_of(self, kid):
        # A rotation, signed by a key that counts, names the next key.
        if self.named and self.named[0] == kid and self.named[1]:
            self.keys.setdefault(*self.named)
        self.named = None
        return self.keys.get(kid)

    def check_signature(self, said, line):
        key = self.key_of(said["kid"])
        if not key:
            return
        message = b"verbatim/checkpoint/v2\n" + line[:-97]
        good = said["fp"] == fp_of(key) and is_signed(key, message, unbase64(said["sig2"]))
        need(good, f"the signature of checkpoint {said['seq']} is not valid")
        if said["seq"] == 1:
            self.of_first.add(said["kid"])
        if said["kind"] == "rotate":
            self.of_first |= {said["next"]} if said["kid"] in self.of_first else set()
            next_key = unbase64(said["key"]) if "key" in said else self.keys.get(said["next"])
            good = next_key and kid_of(next_key) == said["next"]
            self.named = (said["next"], next_key if good else None)

    def is_confirmed(self, facts, kid, first):
        """Whether what this key states of genesis counts."""
        if "genesis" in first:
            need(first["genesis"] == hash_of_facts(facts), "checkpoint 1 is of another genesis")
        return "genesis" in first or kid in self.of_first


class Proof(Reader):
    def __init__(self, keys):
        super().__init__(keys)
        self.signed, self.lines, self.pairs, self.proven = {}, [], [], []
        self.opened = self.stated = None
        self.confirmed = False
        self.relied, self.needed, self.problems = set(), set(), []

    def read(self, data):
        if len(data) > 4 * 2**24:
            raise Bad("unreadable", "the file is too long")
        at, rank = 0, -1
        while at < len(data):
            need(rank < 5, "bytes follow the end")
            start, (line, at) = at, line_at(data, at)
            record = read_record(line, "proof", KEYS, CHECKS)
            own = KEYS[tuple(record)]
            need(own >= rank and (own > rank or own >= 2) and (rank > -1 or own == 0), "not in its place")
            rank, more = own, None
            if "checkpoint" in record or "line" in record or "without" in record:
                more, at = line_at(data, at)
            if own == 0:
                self.header, self.parts = record, record["parts"]
                self.inside = record["dialect"] in ENVELOPES
            elif own == 1:
                self.genesis(record, more, line)
            elif own == 2:
                self.checkpoint(record["checkpoint"], more)
            elif own == 3:
                self.shown(record, more)
            elif own == 4:
                self.compare(*record["consistency"], self.path(record))
            else:
                end = record["end"]
                need((end["bytes"], end["sha256"]) == (start, sha256(data[:start]).hex()), "checksum")
        need(rank == 5, "it does not end as it must")

    def path(self, record):
        hashes = [unbase64(each) for each in record["path"].split(" ")] if record["path"] else []
        need(len(hashes) <= 54 and all(len(each) == 32 for each in hashes), "not a path")
        return hashes

    def genesis(self, record, rest, line):
        if rest is None:
            need(not self.inside, "a genesis in the log is never stated")
            self.stated = (record, line)
            return
        need(self.inside and 1 <= self.parts <= 64, "this genesis cannot be opened")
        whole = open_genesis(rest, record["without"])
        said = checkpoint(whole, self.header["dialect"])
        need(said and said["kind"] == "genesis" and said["seq"] == 0 and said["parts"] == self.parts, "no genesis")
        need(said["prev"] == "0" * 64, "no genesis")
        hash = leaf(whole, self.parts, unbase64(record["genesis"]), record["without"])
        self.opened = {**said, "leaf": hash, "path": self.path(record)}

    def checkpoint(self, seq, line):
        said = checkpoint(line, self.header["dialect"])
        need(said and said["seq"] == seq and said["kind"] != "genesis", "not the checkpoint that it should be")
        need(is_session_of(self.header["dialect"], said["session"]), "another session")
        before = next(reversed(self.signed.values()), None) or self.opened
        if before:
            need(said["session"] == before["session"] and said["log"] == before["log"], "another log")
            grows = said["tree"]["size"] - before["tree"]["size"] - self.inside
            need(seq > before["seq"] and said["byte_offset"] >= before["byte_offset"] and grows >= 0, "chain")
            need(not before.get("hash_of_line") or seq > before["seq"] + 1 or said["prev"] == before["hash_of_line"], "chain")
        elif self.stated:
            need(said["log"] == self.stated[0]["genesis"]["log"], "another log")
        self.check_signature(said, line)
        self.signed[seq] = {**said, "hash_of_line": sha256(line, b"\n").hex()}

    def shown(self, record, rest):
        need((self.header["content"] == "bytes") == (rest is None), "another content")
        need(not self.lines or self.lines[-1][0]["index"] < record["index"], "lines are not in order")
        if rest is None:
            salt, data = unbase64(record["salt"]), unbase64(record["bytes"])
            need(len(salt) == 16, "other salts")
            self.lines.append((record, sha256(b"\0", salt, bytes(4), data), data))
            return
        gaps = record.get("without", [])
        whole = fill(rest, gaps)
        need(not (self.inside and is_claim(whole)), "an ordinary line claims to be a checkpoint")
        hash = leaf(whole, self.parts, unbase64(record["line"]), gaps)
        self.lines.append((record, hash, whole))

    def compare(self, old, new, path):
        one, two = (self.opened if seq == 0 else self.signed.get(seq) for seq in (old, new))
        need(one and two and old < new and (old, new) not in self.pairs, "a checkpoint is missing")
        need(is_consistent(one["tree"], two["tree"], path), "the trees are not consistent")
        self.pairs.append((old, new))
        self.relied |= {max(old, 1), new}

    def relate(self):
        need(self.lines or self.pairs, "it proves nothing")
        first = self.signed.get(1)
        need(first or not (self.opened or self.stated), "checkpoint 1 is missing")
        if self.opened:
            place = self.opened["tree"]["size"]
            need(is_included(self.opened["leaf"], place, first["tree"], self.opened["path"]), "genesis")
            self.relied.add(1)
        if self.stated:
            self.judge_stated(*self.stated, first)
        for record, hash, whole in self.lines:
            self.prove(record, hash, whole)
        for seq, each in self.signed.items():
            need(seq in self.relied | self.needed or each["kind"] == "rotate", f"nothing needs checkpoint {seq}")
        if any(self.signed[seq]["kid"] not in self.keys for seq in self.relied):
            self.problems.append("untrusted")

    def judge_stated(self, record, line, first):
        facts = record["genesis"]
        need(facts["parts"] == self.parts and facts["line"] == first["prev"], "genesis is another")
        need(facts["size"] <= first["tree"]["size"], "genesis is another")
        need(facts["byte_offset"] <= first["byte_offset"], "genesis is another")
        self.confirmed = self.is_confirmed(facts, record["kid"], first)
        key, message = self.key_of(record["kid"]), b"verbatim/proof-genesis/v1\n" + line[:-96]
        if key:
            need(is_signed(key, message, unbase64(record["sig"])), "the signature of the statement")
        else:
            self.problems.append("untrusted")

    def prove(self, record, hash, whole):
        index, by, proven_by = record["index"], None, None
        if self.opened and self.opened["tree"]["size"] > index:
            by = proven_by = self.opened
        else:
            by = proven_by = next((c for c in self.signed.values() if c["tree"]["size"] > index), None)
            need(by, "no checkpoint covers the line")
            before = self.signed.get(by["seq"] - 1)
            if by["seq"] == 1:
                facts = self.stated[0]["genesis"] if self.confirmed else None
                before = self.opened or (facts and {**facts, "seq": 0, "tree": facts, "kind": "genesis"})
                if not before:
                    self.problems.append("incomplete")
                elif facts and facts["size"] > index:
                    by, before = before, None
            else:
                need(before, "the checkpoint before is missing")
            if before:
                need(before["tree"]["size"] + self.inside <= index, "the line is a checkpoint")
                self.needed.add(before["seq"])
        need(is_included(hash, index, proven_by["tree"], self.path(record)), f"line {index + 1} is not in the tree")
        self.relied.add(max(1, by["seq"]))
        if by["kind"] in ("genesis", "recovery") and by["found"] and not by["vouched"]:
            self.found(by, proven_by["seq"])
        ends = by["kind"] in ("turn", "final") or by.get("vouched")
        self.proven.append((index + 1, by["turn"] if ends else by["turn"] + 1, whole))

    def found(self, by, proven_by):
        for seq, each in self.signed.items():
            same = seq == proven_by or (proven_by, seq) in self.pairs
            vouches = each["kind"] == "recovery" and each["vouched"] and each["found"] == by["found"]
            if same and vouches and seq > by["seq"]:
                self.relied.add(seq)
                if each["kid"] in self.keys:
                    return
        self.problems.append("incomplete")


# Disclosed copies.
COPY_KEYS = {
    ("verbatim", "v", "dialect", "content", "parts", "genesis"): "header",
    ("line",): "line",
    ("line", "without"): "line",
    ("leaf", "why"): "leaf",
    ("leaf", "why", "mask"): "leaf",
    ("genesis", "without"): "opened",
    ("genesis",): "stated",
    ("checkpoint",): "checkpoint",
    ("bytes", "salt"): "bytes",
    ("bytes",): "bytes",
    ("statement", "sig"): "statement",
}


def is_why(value):
    return is_count(value) and value < 1000


def is_mask(value):
    return isinstance(value, str) and len(value.encode("utf-16-le", "surrogatepass")) <= 2 * 4096


def is_copy_gap(gap):
    good = isinstance(gap, dict) and tuple(gap)[:3] == ("at", "len", "part")
    good = good and tuple(gap)[3:] in ((), ("why",), ("why", "mask"))
    good = good and is_gap({key: gap[key] for key in ("at", "len", "part")})
    return good and is_why(gap.get("why", 0)) and is_mask(gap.get("mask", ""))


def is_reason(it):
    fields = {"rule": 200, "reason": 2000}
    good = isinstance(it, dict) and list(it) == ["rule", "reason", "lines", "strings"]
    good = good and all(isinstance(it[key], str) and len(it[key]) <= most for key, most in fields.items())
    return good and is_count(it["lines"]) and is_count(it["strings"])


COPY_CHECKS = {
    **{key: CHECKS[key] for key in ("v", "dialect", "content", "parts")},
    "verbatim": lambda it: it == "disclosure",
    "genesis": lambda it: isinstance(it, str) or is_facts(it),
    "leaf": is_hash,
    "why": is_why,
    "mask": is_mask,
    "without": lambda it: isinstance(it, list) and len(it) > 0 and all(map(is_copy_gap, it)),
    "statement": is_object(
        head=is_object(log=lambda it: isinstance(it, str), seq=is_count, line=is_hash, ts=lambda it: isinstance(it, str)),
        genesis=or_null(is_facts),
        withheld=lambda it: isinstance(it, list) and len(it) <= 1000 and all(map(is_reason, it)),
        left_out=is_object(lines=is_count, bytes=is_count),
        **{"ts": is_time, "kid": is_hash, "bytes": is_count, "sha256": is_hash},
    ),
}


class Tree:
    def __init__(self):
        self.size, self.peaks = 0, []

    def push(self, hash):
        at, self.size = self.size, self.size + 1
        while at % 2:
            hash, at = node(self.peaks.pop(), hash), at >> 1
        self.peaks.append(hash)

    def root(self):
        hash = self.peaks[-1] if self.peaks else sha256()
        for peak in reversed(self.peaks[:-1]):
            hash = node(peak, hash)
        return hash.hex()


class Copy(Reader):
    def __init__(self, keys):
        super().__init__(keys)
        self.problems, self.proven, self.pairs = [], [], []
        self.header = self.genesis = self.first = self.newest = self.raw = self.head = None
        self.tree, self.segment, self.reasons, self.found = Tree(), hashlib.sha256(), {}, {}
        self.start = self.bytes = self.unmeasured = self.seq = 0
        self.prev, self.log, self.session, self.has_segment, self.over = None, None, None, True, False

    def read(self, data):
        at = 0
        while at < len(data):
            need(not self.over, "bytes follow the statement")
            start, (line, at) = at, line_at(data, at)
            record = read_record(line, "disclosure", COPY_KEYS, COPY_CHECKS)
            kind = COPY_KEYS[tuple(record)]
            need((kind == "header") == (self.header is None), "it does not begin as a copy does")
            more = None
            if kind in ("line", "opened", "checkpoint"):
                more, at = line_at(data, at)
            if kind == "statement":
                self.statement(record, line, data[:start])
                continue
            need(self.head != "inside", "a record follows the head")
            if kind != "bytes":
                self.end_raw()
            if kind != "header":
                self.head = None
            raw = self.header and self.header["content"] == "bytes"
            need(not raw or kind not in ("line", "opened"), "another content")
            need(raw or kind != "bytes", "another content")
            getattr(self, "take_" + kind)(record, more)
        need(self.over, "it does not end with a statement")

    def take_header(self, record, _):
        self.header, self.parts = record, record["parts"]
        self.inside = record["dialect"] in ENVELOPES
        need(record["genesis"] in ("opened", "stated", "absent"), "genesis")
        need(record["genesis"] != "opened" or (self.inside and 1 <= self.parts <= 64), "genesis")
        need(record["genesis"] != "stated" or not self.inside, "a genesis in the log is never stated")
        if record["genesis"] == "absent":
            self.problems.append("incomplete")
            self.genesis, self.seq, self.has_segment = "absent", 1, False

    def take_line(self, record, rest):
        gaps = record.get("without", [])
        need(all("why" in gap for gap in gaps), "a gap has no reason")
        whole = fill(rest, gaps)
        self.push(leaf(whole, self.parts, self.salts(record["line"]), gaps), True, len(whole) + 1)
        need(not (self.inside and is_claim(whole)), "an ordinary line claims to be a checkpoint")
        for gap in gaps:
            self.count(gap["why"], 1)
        self.proven.append((self.tree.size, "?", whole))

    def take_leaf(self, record, _):
        self.push(bytes.fromhex(record["leaf"]), True, 0)
        self.unmeasured += 1
        self.count(record["why"], 0)

    def take_bytes(self, record, _):
        data = unbase64(record["bytes"])
        need(("salt" in record) == (self.raw is None) and 0 < len(data) <= 49152, "pieces")
        if self.raw is None:
            salt = unbase64(record["salt"])
            need(len(salt) == 16, "salt")
            self.raw = [hashlib.sha256(b"\0" + salt + bytes(4)), 49152]
        need(self.raw[1] == 49152, "pieces")
        self.raw[0].update(data)
        self.raw[1] = len(data)
        self.bytes += len(data)

    def end_raw(self):
        if self.raw:
            self.push(self.raw[0].digest(), True, 0)
        self.raw = None

    def take_opened(self, record, rest):
        gaps = record["without"]
        whole = open_genesis(rest, gaps)
        said = checkpoint(whole, self.header["dialect"])
        need(said and said["kind"] == "genesis" and said["seq"] == 0 and said["prev"] == "0" * 64, "genesis")
        need(said["parts"] == self.parts and self.header["genesis"] == "opened" and not self.genesis, "genesis")
        need(not any("why" in gap for gap in gaps) and self.place(said["byte_offset"]) == said["byte_offset"], "genesis")
        self.compare(said)
        self.push(leaf(whole, self.parts, self.salts(record["genesis"]), gaps), False, len(whole) + 1)
        self.begin(said, said["byte_offset"] + len(whole) + 1, None)

    def take_stated(self, record, _):
        facts = record["genesis"]
        need(isinstance(facts, dict) and self.header["genesis"] == "stated" and not self.genesis, "genesis")
        need(facts["parts"] == self.parts, "genesis")
        place = facts["byte_offset"]
        need(self.place(place) == place and facts["size"] == self.tree.size, "genesis is not at its place")
        self.begin({**facts, "kind": "genesis"}, place, facts["line"])
        self.genesis = facts

    def begin(self, said, end, line):
        self.genesis, self.seq, self.prev, self.log = "opened", 1, line, said["log"]
        self.note_found(said, said["byte_offset"])
        self.segment, self.start, self.bytes, self.unmeasured = hashlib.sha256(), end, 0, 0

    def take_checkpoint(self, record, line):
        said = checkpoint(line, self.header["dialect"])
        salts = self.salts(record["checkpoint"]) if record["checkpoint"] else b""
        need(said and said["kind"] != "genesis" and self.genesis and (self.inside or not salts), "not a checkpoint")
        need(is_session_of(self.header["dialect"], said["session"]), "another session")
        place = self.place(said["byte_offset"])
        self.compare(said)
        need(place == said["byte_offset"] and said["seq"] == self.seq, "a checkpoint is not at its place")
        need(self.prev in (None, said["prev"]) and self.log in (None, said["log"]), "chain")
        need(self.session in (None, said["session"]), "another session")
        self.check_signature(said, line)
        self.note_found(said, place)
        if salts:
            self.push(leaf(line, self.parts, salts, []), False, 0)
        self.first = said if said["seq"] == 1 else self.first
        self.seq, self.log, self.session = self.seq + 1, said["log"], said["session"]
        self.prev, self.newest = sha256(line, b"\n").hex(), said
        self.head = "inside" if self.inside and not salts else "salted"
        self.segment, self.start = hashlib.sha256(), place + (len(line) + 1 if self.inside else 0)
        self.bytes, self.unmeasured, self.has_segment = 0, 0, True

    def note_found(self, said, place):
        found = said["found"] if said["kind"] in ("genesis", "recovery") else None
        if found:
            need(found[0] <= found[1] <= place, "a range outside the log was found")
            self.found[tuple(found)] = not said["vouched"]

    def statement(self, record, line, before):
        said = record["statement"]
        head = {key: (self.newest or {}).get(key) for key in ("log", "seq", "ts")}
        need(self.newest and self.head == ("inside" if self.inside else "salted") and not self.raw, "no head")
        need(said["head"] == {**head, "line": self.prev}, "another head")
        need((said["bytes"], said["sha256"]) == (len(before), sha256(before).hex()), "other bytes")
        stated = self.genesis if isinstance(self.genesis, dict) else None
        need(said["genesis"] == stated, "another genesis")
        counts = [[each["lines"], each["strings"]] for each in said["withheld"]]
        need(counts == [self.reasons.get(n, [0, 0]) for n in range(len(counts))], "other reasons")
        need(all(n < len(counts) for n in self.reasons), "other reasons")
        key = self.keys.get(said["kid"])
        message = b"verbatim/disclosure/v1\n" + line[:-96]
        need(not key or is_signed(key, message, unbase64(record["sig"])), "the signature of the statement")
        if not key or self.newest["kid"] not in self.keys:
            self.problems.append("untrusted")
        confirmed = not stated or self.is_confirmed(stated, said["kid"], self.first)
        if any(self.found.values()) or not (confirmed or self.first["tree"]["size"] == 0):
            self.problems.append("incomplete")
        self.over = True

    def relate(self):
        pass

    def salts(self, text):
        salts = unbase64(text)
        need(salts and len(salts) % 16 == 0, "salts")
        return salts

    def push(self, hash, in_segment, length):
        self.tree.push(hash)
        if in_segment:
            self.segment.update(hash)
        self.bytes += length

    def place(self, said):
        least = self.start + self.bytes + self.unmeasured
        return max(said, least) if self.unmeasured else least

    def compare(self, said):
        need(not self.has_segment or said["seg"] == self.segment.hexdigest(), "segment")
        need(said["tree"] == {"size": self.tree.size, "root": self.tree.root()}, "tree")

    def count(self, why, what):
        self.reasons.setdefault(why, [0, 0])[what] += 1


def judge(data, keys):
    proof = (Copy if data.startswith(b'{"verbatim":"disclosure",') else Proof)(keys)
    try:
        proof.read(data)
        proof.relate()
    except Bad as bad:
        return bad.args[0], bad.args[1], proof
    except (KeyError, TypeError, ValueError, AttributeError):
        return "tampered", "it is not a proof", proof
    worst = next((each for each in ("untrusted", "incomplete") if each in proof.problems), "verified")
    return worst, "", proof


def key_in(path):
    with open(path, encoding="ascii") as file:
        text = "".join(line for line in file.read().splitlines() if "-----" not in line)
    return base64.b64decode(text)[-32:]


def main(path, *key_files):
    with open(path, "rb") as file:
        data = file.read()
    verdict, why, proof = judge(data, [key_in(each) for each in key_files])
    print(f"{path}: {verdict}{': ' if why else ''}{why}")
    if verdict not in ("tampered", "unreadable"):
        for number, turn, whole in proof.proven:
            print(f"  line {number}{f', turn {turn}' if turn != '?' else ''}: {whole.decode('utf8', 'replace')}")
        for old, new in proof.pairs:
            print(f"  checkpoint {new} continues the log of checkpoint {old}")
    return EXIT[verdict]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
