"""The verifier of the seed's section 4, as in the document.

    python3 seed_verify.py PUBLIC_PEM...    one path a line on stdin, one answer a line on stdout, in JSON

The document leaves `verify_signature` to its signing primitives: Ed25519 over the hash's hex digits,
base64url, under the key whose fingerprint is the first 16 hex digits of SHA-256 over its PEM. Of several
keys, the one with the fingerprint that the checkpoint names.
"""

import hashlib
import json
import sys
from pathlib import Path

from json_signature import verify_signature


def is_signed(cp, pems):
    return any(verify_signature(cp["hash"], cp["sig"], cp["fp"], pem) for pem in pems)


def verify(path, pems):
    content = path.read_bytes()
    checkpoints = []
    for line in content.decode("utf-8").splitlines():
        line = line.strip()
        if not line:
            continue
        try:
            event = json.loads(line)
            if event.get("event_type") == "checkpoint":
                checkpoints.append(event["payload"])
        except json.JSONDecodeError:
            continue

    if not checkpoints:
        return {"valid": True, "checkpoints": 0, "unsigned": True}

    for cp in checkpoints:
        actual_hash = hashlib.sha256(content[: cp["byte_offset"]]).hexdigest()
        if actual_hash != cp["hash"]:
            return {"valid": False, "error": "hash", "failed_at_turn": cp["turn"]}
        if not is_signed(cp, pems):
            return {"valid": False, "error": "signature", "failed_at_turn": cp["turn"]}

    last = checkpoints[-1]
    last_end = content.find(b"\n", last["byte_offset"]) + 1
    if 0 < last_end < len(content):
        return {"valid": False, "error": "unsigned", "unsigned_bytes": len(content) - last_end}
    return {"valid": True, "checkpoints": len(checkpoints)}


if __name__ == "__main__":
    public_pems = [Path(each).read_bytes() for each in sys.argv[1:]]
    for asked in sys.stdin:
        print(json.dumps(verify(Path(json.loads(asked)), public_pems)))
