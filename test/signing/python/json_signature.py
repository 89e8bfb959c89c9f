"""JSON signing as in the seed's section 9, and the second signature of a thread.json.

    python3 json_signature.py    one question a line on stdin, one answer a line on stdout, in JSON

`sign_json` and `verify_json` do as the document's do, but for two things it leaves open or gets
wrong: the keys come as arguments, and `parse_signature` uses the pattern that the original's code
uses. Splitting at colons, as the document does, finds the timestamp's; `split_parts` keeps that
way, so that a test can show what comes of it. `verify_thread` is written from the signing format.
"""

import base64
import hashlib
import json
import re
import sys
from datetime import datetime, timezone

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization

SIGNATURE = re.compile(
    r"rye:signed:(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"
    r":([a-f0-9]{64}):([A-Za-z0-9_-]+={0,2}):([a-f0-9]{16})"
)


def generate_timestamp():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def compute_key_fingerprint(public_pem):
    return hashlib.sha256(public_pem).hexdigest()[:16]


def sign_hash(content_hash, private_pem):
    key = serialization.load_pem_private_key(private_pem, password=None)
    return base64.urlsafe_b64encode(key.sign(content_hash.encode("utf-8"))).decode("ascii")


def holds(message, sig, public_pem):
    key = serialization.load_pem_public_key(public_pem)
    try:
        # The last version of the original omitted the padding.
        key.verify(base64.urlsafe_b64decode(sig + "=" * (-len(sig) % 4)), message)
        return True
    except (InvalidSignature, ValueError):
        return False


def verify_signature(content_hash, sig, fp, public_pem):
    if fp != compute_key_fingerprint(public_pem):
        return False
    return holds(content_hash.encode("utf-8"), sig, public_pem)


def content_hash_of(data, *without):
    content = {k: v for k, v in data.items() if k not in without}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def sign_json(data, private_pem, public_pem):
    content_hash = content_hash_of(data, "_signature")
    ed25519_sig = sign_hash(content_hash, private_pem)
    pubkey_fp = compute_key_fingerprint(public_pem)
    ts = generate_timestamp()
    data["_signature"] = f"rye:signed:{ts}:{content_hash}:{ed25519_sig}:{pubkey_fp}"
    return data


def split_parts(sig_str):
    parts = sig_str.split(":")
    return parts[3], parts[4], parts[5]


def parse_signature(sig_str):
    return SIGNATURE.fullmatch(sig_str).groups()[1:]


def verify_json(data, public_pem, parse):
    sig_str = data.get("_signature")
    if not sig_str:
        return False
    actual_hash = content_hash_of(data, "_signature")
    expected_hash, sig, fp = parse(sig_str)
    if actual_hash != expected_hash:
        return False
    return verify_signature(expected_hash, sig, fp, public_pem)


def verify_thread(data, public_pem):
    key = serialization.load_pem_public_key(public_pem)
    raw = key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    ts = SIGNATURE.fullmatch(data["_signature"]).group(1)
    fields = [
        "verbatim/thread/v2",
        data["thread_id"],
        str(data["rev"]),
        content_hash_of(data, "_signature", "_signature2"),
        ts,
        hashlib.sha256(raw).hexdigest(),
    ]
    statement = "".join(field + "\n" for field in fields)
    return holds(statement.encode("utf-8"), data["_signature2"], public_pem)


def answer(question):
    data = json.loads(question["text"])
    public_pem = question["publicPem"].encode("ascii")
    if question["ask"] == "sign":
        signed = sign_json(data, question["privatePem"].encode("ascii"), public_pem)
        return json.dumps(signed, indent=2)
    if question["ask"] == "verify":
        return verify_json(data, public_pem, parse_signature)
    if question["ask"] == "verify by splitting":
        return verify_json(data, public_pem, split_parts)
    return verify_json(data, public_pem, parse_signature) and verify_thread(data, public_pem)


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))))
