/** The examples of docs/formats/disclosure.md are what the real code writes and verifies. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { redactLog } from "../../src/evidence/redact/redact.ts";
import { entriesNumbered } from "../../src/evidence/redact/text-matches.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { PIECE_BYTES, RECORD_BYTES_MAX } from "../../src/trust/proof/disclosure/records.ts";
import { testKey } from "../signing/json-key.ts";
import { judgeBytes, verdictOf } from "../support/disclosing.ts";
import { docsPage } from "../support/docs-page.ts";
import { memoryHost } from "../support/memory-files.ts";

const checkpoints = docsPage("formats/checkpoint");
const page = docsPage("formats/disclosure");
/** The key that signed the examples. */
const key = testKey(7);
const { keys } = key.judge();

async function copyOf(dialect: string, id: string, log: string, sidecar: string | null) {
  const files = new Map([["/store/log", Buffer.from(checkpoints.block(log))]]);
  if (sidecar) files.set("/store/log.checkpoints", Buffer.from(checkpoints.block(sidecar)));
  const pieces: Buffer[] = [];
  const target = { dialect, root: "/store", logId: "log", id };
  await redactLog(memoryHost(files), target, {
    verify: { crypto: nodeCrypto, keys },
    finder: entriesNumbered(new Set([3])),
    reason: "not relevant",
    nowMs: () => Date.parse("2026-02-10T09:00:00Z"),
    signer: { ...key.signer, publicKey: new Uint8Array(32) },
    out: (bytes) => pieces.push(Buffer.from(bytes)),
  });
  return Buffer.concat(pieces).toString();
}

const EXAMPLES = [
  ["disclosed-rye", "rye", "hello_world-1739012630", "jsonl rye-flat", null],
  ["disclosed-homeagent", "homeagent", "kitchen/2026-02-09", "jsonl homeagent", "jsonl sidecar"],
] as const;

test.each(EXAMPLES)(
  "the page's example %s is what is written, and it is verified",
  async (name, dialect, id, log, sidecar) => {
    const example = page.block(`jsonl ${name}`);
    assert.equal(example, await copyOf(dialect, id, log, sidecar));
    assert.equal(verdictOf(judgeBytes(keys, Buffer.from(example))), "verified");
  },
);

test("the page names the limits", () => {
  const text = page.text.replaceAll(/\s+/g, " ");
  assert.ok(text.includes(`A line has at most ${RECORD_BYTES_MAX / 1024 ** 2} MiB`));
  assert.ok(text.includes(`Each piece has ${PIECE_BYTES.toLocaleString("en")} bytes`));
});
