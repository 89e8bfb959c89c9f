"""The signer of the transcript-integrity document, as it is there, and the processor time it takes.

    python3 seed.py <turns> <directory> <file with the lines of a turn>

Prints milliseconds for all checkpoints together; the lines are written by others and not counted.
"""

import base64
import hashlib
import json
import sys
import time
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

key = Ed25519PrivateKey.generate()
private_pem = key.private_bytes(
    serialization.Encoding.PEM,
    serialization.PrivateFormat.PKCS8,
    serialization.NoEncryption(),
)
public_pem = key.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)


def sign_hash(content_hash, pem):
    signer = serialization.load_pem_private_key(pem, None)
    return base64.b64encode(signer.sign(content_hash.encode())).decode()


def compute_key_fingerprint(pem):
    return hashlib.sha256(pem).hexdigest()[:16]


class TranscriptSigner:
    def __init__(self, thread_id, thread_dir):
        self._thread_id = thread_id
        self._jsonl_path = thread_dir / "transcript.jsonl"

    def checkpoint(self, turn):
        if not self._jsonl_path.exists():
            return
        byte_offset = self._jsonl_path.stat().st_size
        content = self._jsonl_path.read_bytes()
        content_hash = hashlib.sha256(content).hexdigest()
        timestamp = time.time()
        ed25519_sig = sign_hash(content_hash, private_pem)
        pubkey_fp = compute_key_fingerprint(public_pem)
        entry = {
            "timestamp": timestamp,
            "thread_id": self._thread_id,
            "event_type": "checkpoint",
            "payload": {
                "turn": turn,
                "byte_offset": byte_offset,
                "hash": content_hash,
                "sig": ed25519_sig,
                "fp": pubkey_fp,
            },
        }
        with open(self._jsonl_path, "a") as f:
            f.write(json.dumps(entry, default=str) + "\n")
            f.flush()


turns, directory, lines = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]).read_bytes()
directory.mkdir(parents=True, exist_ok=True)
signer = TranscriptSigner("bench-1739012630", directory)
spent = 0.0
for turn in range(1, turns + 1):
    with open(directory / "transcript.jsonl", "ab") as f:
        f.write(lines)
    started = time.process_time()
    signer.checkpoint(turn)
    spent += time.process_time() - started
print(spent * 1000)
