"""Transcripts as the Python original wrote them: its event writer and its signer.

    python3 write_v1.py PRIVATE_PEM PUBLIC_PEM    one question a line on stdin, {} for each on stdout

A question is {"path", "thread_id", "turns", "padded", "tail": [event types]}. Timestamps are floats,
JSON has spaces, the checkpoint has a `ts`; its signature has its padding, or has lost it.
"""

import hashlib
import json
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

from json_signature import compute_key_fingerprint, sign_hash


def write_event(path, thread_id, event_type, payload):
    entry = {
        "timestamp": time.time(),
        "thread_id": thread_id,
        "event_type": event_type,
        "payload": payload,
    }
    with open(path, "a", encoding="utf-8") as f:
        f.write(json.dumps(entry, default=str) + "\n")


def checkpoint(path, thread_id, turn, padded, private_pem, public_pem):
    content = path.read_bytes()
    content_hash = hashlib.sha256(content).hexdigest()
    sig = sign_hash(content_hash, private_pem)
    payload = {
        "turn": turn,
        "byte_offset": len(content),
        "hash": content_hash,
        "sig": sig if padded else sig.rstrip("="),
        "fp": compute_key_fingerprint(public_pem),
        "ts": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    write_event(path, thread_id, "checkpoint", payload)


def write(question, private_pem, public_pem):
    path, thread_id = Path(question["path"]), question["thread_id"]
    for turn in range(1, question["turns"] + 1):
        write_event(path, thread_id, "cognition_in", {"text": f"Überlege {turn}", "role": "user"})
        write_event(path, thread_id, "cognition_out", {"text": "naïve \u2028 line \U0001f600"})
        write_event(path, thread_id, "checkpoint_saved", {"turn": str(turn)})
        checkpoint(path, thread_id, turn, question["padded"], private_pem, public_pem)
    for event_type in question["tail"]:
        write_event(path, thread_id, event_type, {"cost": {"turns": question["turns"]}})
    return {}


if __name__ == "__main__":
    private, public = (Path(name).read_bytes() for name in sys.argv[1:3])
    for asked in sys.stdin:
        print(json.dumps(write(json.loads(asked), private, public)))
