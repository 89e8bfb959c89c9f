#!/usr/bin/env python3
"""Makes the rye threads next to it, as the original's Python writes and signs them.

    python3 test/samples/rye/make.py

The functions that hash and sign are those of test/signing/python, which follow the seed. Times and
the key are fixed, so the output is the same each time.
"""

import hashlib
import json
import pathlib
import shutil
import sys
from datetime import datetime, timezone

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "signing" / "python"))
sys.dont_write_bytecode = True
import json_signature  # noqa: E402

THREADS = HERE / "by-python" / ".ai" / "threads"
KEY = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"rye samples").digest())
PRIVATE = KEY.private_bytes(
    serialization.Encoding.PEM,
    serialization.PrivateFormat.PKCS8,
    serialization.NoEncryption(),
)
PUBLIC = KEY.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)


class Thread:
    def __init__(self, directive, start, is_signed=True, **meta):
        self.id = f"{directive}-{start}"
        self.directory = THREADS / self.id
        self.directory.mkdir(parents=True)
        self.log = self.directory / "transcript.jsonl"
        self.now = start + 0.25
        self.turn = 0
        self.is_signed = is_signed
        self.meta = {"thread_id": self.id, "directive": directive, "status": "running", **meta}
        self.started = self.stamp("%Y-%m-%dT%H:%M:%S.%f+00:00")

    def stamp(self, form):
        return datetime.fromtimestamp(self.now, timezone.utc).strftime(form)

    def event(self, event_type, **payload):
        self.now += 0.1875
        row = {
            "timestamp": self.now,
            "thread_id": self.id,
            "event_type": event_type,
            "payload": payload,
        }
        with open(self.log, "a", encoding="utf-8") as f:
            f.write(json.dumps(row) + "\n")

    def say(self, prompt, answer):
        self.event("cognition_in", text=prompt, role="user")
        for word in answer.split(" ")[:3]:
            self.event("token_delta", type="text", text=word)
        self.event("cognition_out", text=answer)

    def call(self, call_id, tool, given, output=None):
        self.event("tool_call_start", tool=tool, call_id=call_id, input=given)
        if output is not None:
            self.event("tool_call_result", call_id=call_id, output=output)

    def checkpoint(self, is_saved=True):
        self.turn += 1
        if is_saved:
            self.event("checkpoint_saved", turn=str(self.turn))
        content = self.log.read_bytes()
        content_hash = hashlib.sha256(content).hexdigest()
        self.event(
            "checkpoint",
            turn=self.turn,
            byte_offset=len(content),
            hash=content_hash,
            sig=json_signature.sign_hash(content_hash, PRIVATE),
            fp=json_signature.compute_key_fingerprint(PUBLIC),
            ts=self.stamp("%Y-%m-%dT%H:%M:%SZ"),
        )

    def end(self, status, cost, **payload):
        self.meta["status"] = status
        if cost is not None:
            self.event(f"thread_{status}", cost=cost, **payload)
        self.meta["created_at"] = self.started
        self.meta["updated_at"] = self.stamp("%Y-%m-%dT%H:%M:%S.%f+00:00")
        self.meta["model"] = "garden-1-small"
        if cost is not None:
            self.meta["cost"] = cost
        self.meta["limits"] = {"turns": 8, "tokens": 4096, "spend": 1.0, "spend_currency": "USD"}
        if self.is_signed:
            json_signature.generate_timestamp = lambda: self.stamp("%Y-%m-%dT%H:%M:%SZ")
            json_signature.sign_json(self.meta, PRIVATE, PUBLIC)
        text = json.dumps(self.meta, indent=2)
        (self.directory / "thread.json").write_text(text, encoding="utf-8")


def cost_of(turns, given, said, spend, seconds):
    return {
        "turns": turns,
        "input_tokens": given,
        "output_tokens": said,
        "spend": spend,
        "elapsed_seconds": seconds,
    }


def make():
    shutil.rmtree(THREADS.parent.parent, ignore_errors=True)

    plan = Thread("garden/water/plan", 1783100000)
    plan.say("Write the plan of 2028 — 366 days.", "I read the plan first.")
    plan.call("c1", "read_file", {"path": "plan.md"}, "Error: plan.md does not exist")
    plan.checkpoint()
    plan.say("Go on.", "I write it. ü, 水, \U0001f331")
    plan.call("c2", "write_file", {"path": "plan.md", "content": "# 2028\n\n366 days.\n"}, "{'ok': True}")
    plan.call("c3", "spawn_thread", {"directive": "garden/water/check"}, "{'status': 'success'}")
    plan.checkpoint()
    plan.say("Return.", "The plan is written.")
    plan.event("directive_return", outputs="{'path': 'plan.md'}", cost="{'turns': 3}")
    plan.checkpoint(is_saved=False)
    plan.end("completed", cost_of(3, 1210, 96, 0.0125, 1.75))

    check = Thread("garden/water/check", 1783100003, capabilities=["garden.read.*"])
    check.say("Check plan.md.", "It has 366 days.")
    check.call("c1", "read_file", {"path": "plan.md"}, "# 2028\n\n366 days.\n")
    check.checkpoint()
    check.end("completed", cost_of(1, 300, 12, 1.0, 2.0))

    failed = Thread("garden/water/plan", 1783100020)
    failed.event("cognition_in", text="Write the plan of 2029.", role="user")
    failed.checkpoint(is_saved=False)
    failed.end("error", cost_of(1, 0, 0, 0.0, 1.5e-05), error="The provider did not answer")

    unsigned = Thread("garden/seed/run", 1783100030, is_signed=False)
    unsigned.say("Which seeds are there?", "Beans and peas.")
    unsigned.end("completed", cost_of(1, 80, 35, 0.000755, 0.5))

    cut = Thread("garden/seed/sow", 1783100040)
    cut.say("Sow the beans.", "I look for the bed.")
    cut.call("c1", "find_bed", {"plant": "beans"}, "{'bed': 3}")
    cut.checkpoint()
    cut.event("cognition_in", text="Sow them there.", role="user")
    cut.event("cognition_out", text="I sow them.")
    cut.call("c2", "sow", {"bed": 3})
    cut.end("running", None)
    (HERE / "public_key.pem").write_bytes(PUBLIC)


if __name__ == "__main__":
    make()
