/**
 * Transcripts of the Python original: public ones, whose key is unavailable, and ones that a Python
 * program writes and signs as the original did: in test/samples, and here.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { VerifyReport } from "../../src/trust/judge/report.ts";
import { verifyLog } from "../../src/trust/judge/verify.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { parsePublicPem } from "../../src/trust/keys/pem.ts";
import type { SessionLog } from "../../src/trust/session-log.ts";
import { addTrust } from "../../src/trust/trusted-keys/trust.ts";
import { OWN_KEY_PEM, RYE_THREADS } from "../support/rye-threads.ts";
import { SigningUser, type Written } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { hasCryptography, runPython } from "./python.ts";

const FACTS = {
  own: {
    fp: createHash("sha256").update(readFileSync(OWN_KEY_PEM)).digest("hex").slice(0, 16),
    checkpoints: 6,
    counts: {
      "plain unsigned": 1,
      "plain untrusted": 4,
      "profile unsigned": 1,
      "profile untrusted": 4,
      "only its end unsigned": 3,
      "more unsigned": 1,
    },
  },
  /** All are by this key, which was never published. */
  public: {
    fp: "440443d0858f0199",
    checkpoints: 123,
    counts: {
      "plain unsigned": 1,
      "plain untrusted": 35,
      "profile unsigned": 1,
      "profile untrusted": 35,
      "only its end unsigned": 33,
      "more unsigned": 2, // They were cut off in the middle of a turn.
    },
  },
};
const ENDS = ["thread_completed", "thread_error", "thread_cancelled", "thread_continued"];

function writtenAt(root: string, logId: string): Written {
  const target: SessionLog & { id: string } = { dialect: "rye", root, logId, id: dirname(logId) };
  const path = join(root, logId);
  return { target, path, sidecarPath: `${path}.checkpoints` };
}

function samplesIn(directory: string): Written[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith("transcript.jsonl"))
    .map((name) => writtenAt(directory, name));
}

interface Legacy {
  readonly event_type: string;
  readonly payload: { readonly byte_offset: number; readonly hash: string; readonly fp: string };
}

describe.each(RYE_THREADS)("%s threads", (name, directory) => {
  const facts = FACTS[name];

  test("the hash of every checkpoint is that of the bytes before it", () => {
    let count = 0;
    for (const { path } of samplesIn(directory)) {
      const bytes = readFileSync(path);
      for (let start = 0; start < bytes.length; start = bytes.indexOf(0x0a, start) + 1) {
        const line = bytes.subarray(start, bytes.indexOf(0x0a, start)).toString("utf8");
        const { event_type: type, payload } = JSON.parse(line) as Legacy;
        if (type !== "checkpoint") continue;
        const hash = createHash("sha256").update(bytes.subarray(0, start)).digest("hex");
        assert.deepEqual([payload.byte_offset, payload.hash, payload.fp], [start, hash, facts.fp]);
        count++;
      }
    }
    assert.equal(count, facts.checkpoints);
  });

  test("no thread is trusted without its key, and none is reported as tampered", async () => {
    const user = new SigningUser();
    const counts: Record<string, number> = {};
    const count = (what: string) => {
      counts[what] = (counts[what] ?? 0) + 1;
    };
    for (const written of samplesIn(directory)) {
      const plain = await user.verify(written);
      const { verdict, findings, checkpoints, tail } = await verifyAsRye(user, written);
      count(`plain ${plain.verdict}`);
      count(`profile ${verdict}`);
      assert.equal(checkpoints.valid, checkpoints.total);
      if (checkpoints.total === 0) continue;
      assert.ok(findings.some(({ code }) => code === "KEY_UNKNOWN"));
      assert.ok(plain.findings.some(({ code }) => code === "OLDER_FORMAT"));
      const isEnd = tail.lines > 0 && Object.keys(tail.types).every((type) => ENDS.includes(type));
      const isSaid = findings.some(({ code }) => code === "LEGACY_TERMINAL_UNSIGNED");
      assert.equal(isSaid, isEnd, written.path);
      count(isEnd ? "only its end unsigned" : tail.lines > 0 ? "more unsigned" : "all signed");
    }
    assert.deepEqual(counts, facts.counts);
  });
});

test("our own threads verify under the rye profile, once their key is trusted for it", async () => {
  const user = new SigningUser();
  const { value: publicKey } = parsePublicPem(readFileSync(OWN_KEY_PEM, "utf8"));
  assert.ok(publicKey);
  const grant = {
    publicKey,
    owner: "python",
    purposes: ["transcript"],
    sessions: ["**"],
    profile: "rye",
  } as const;
  await addTrust(nodeHost, user.places, grant, Date.now());
  const [[, directory] = assert.fail()] = RYE_THREADS;
  const verdicts: string[] = [];
  for (const written of samplesIn(directory)) {
    const { verdict } = await verifyAsRye(user, written);
    verdicts.push(`${written.target.id} ${verdict}`);
  }
  assert.deepEqual(verdicts.sort(), [
    "garden/seed/run-1783100030 unsigned",
    "garden/seed/sow-1783100040 incomplete",
    "garden/water/check-1783100003 verified",
    "garden/water/plan-1783100000 verified",
    "garden/water/plan-1783100020 verified",
  ]);
});

async function verifyAsRye(user: SigningUser, { target }: Written): Promise<VerifyReport> {
  const options = await user.judging(target, true);
  return verifyLog(nodeHost, target, { ...options, isLegacyProfile: true });
}

for (const padded of [true, false]) {
  const digits = padded ? 88 : 86;
  test.skipIf(!hasCryptography)(
    `a transcript that Python signs verifies under the rye profile (${digits} characters)`,
    async () => {
      const user = new SigningUser();
      const { publicKey } = await loadSigner(nodeHost, user.places);
      const keys = ["private_key.pem", "public_key.pem"];
      const pems = keys.map((name) => join(user.places.keyDirectory, name));
      const root = tempDirectory();
      const written = writtenAt(root, "hello-1739012630/transcript.jsonl");
      const { path, target } = written;
      const question = { path, thread_id: target.id, turns: 5, padded };
      const write = (tail: readonly string[]) => {
        rmSync(dirname(path), { recursive: true, force: true });
        mkdirSync(dirname(path), { recursive: true });
        runPython("write_v1.py", pems, [{ ...question, tail }]);
      };

      write([]);
      assert.equal((await user.verify(written)).verdict, "untrusted");
      const barred = await verifyAsRye(user, written);
      assert.equal(barred.verdict, "untrusted");
      assert.ok(barred.findings.some(({ code }) => code === "KEY_NOT_FOR_OLDER_FORMAT"));
      const grant = { publicKey, owner: "me", purposes: [], sessions: [], profile: "rye" } as const;
      await addTrust(nodeHost, user.places, grant, Date.now());
      const report = await verifyAsRye(user, written);
      assert.equal(report.verdict, "verified");
      assert.deepEqual(report.checkpoints, { total: 5, valid: 5 });
      assert.equal(report.profile, "rye");

      write(["thread_completed"]);
      const ended = await verifyAsRye(user, written);
      assert.equal(ended.verdict, "verified");
      assert.ok(ended.findings.some(({ code }) => code === "LEGACY_TERMINAL_UNSIGNED"));

      write(["cognition_out", "thread_completed"]);
      assert.equal((await verifyAsRye(user, written)).verdict, "incomplete");
    },
  );
}
