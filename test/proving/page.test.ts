/** The examples of docs/formats/proof.md are what the real code writes and verifies. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { proveLog } from "../../src/evidence/prove/prove.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { PROOF_BYTES_MAX } from "../../src/trust/proof/inclusion/records.ts";
import { testKey } from "../signing/json-key.ts";
import { docsPage } from "../support/docs-page.ts";
import { memoryHost } from "../support/memory-files.ts";
import { judge, verdictOf } from "../support/proving.ts";

const checkpoints = docsPage("formats/checkpoint");
const page = docsPage("formats/proof");
/** The key that signed the examples. */
const key = testKey(7);
const { keys } = key.judge();

const RYE = ["rye", "hello_world-1739012630", "jsonl rye-flat", null] as const;
const HOMEAGENT = ["homeagent", "kitchen/2026-02-09", "jsonl homeagent", "jsonl sidecar"] as const;
const EXAMPLES = [
  ["proof-rye", RYE, { entries: [3], context: 0, consistency: null }],
  ["proof-homeagent", HOMEAGENT, { entries: [2], context: 0, consistency: null }],
  ["proof-consistency", RYE, { entries: [], context: 0, consistency: [1, 2] }],
] as const;

test.each(EXAMPLES)(
  "the page's example %s is what is written, and it is verified",
  async (name, [dialect, id, log, sidecar], asked) => {
    const files = new Map([["/store/log", Buffer.from(checkpoints.block(log))]]);
    if (sidecar) files.set("/store/log.checkpoints", Buffer.from(checkpoints.block(sidecar)));
    const target = { dialect, root: "/store", logId: "log", id };
    const { bytes } = await proveLog(memoryHost(files), target, asked, {
      verify: async () => ({ crypto: nodeCrypto, keys }),
      signer: { ...key.signer, publicKey: new Uint8Array(32) },
      nowMs: () => Date.parse("2026-02-10T09:00:00Z"),
      indexDirectory: null,
    });
    assert.equal(page.block(`jsonl ${name}`), Buffer.from(bytes).toString());
    assert.equal(verdictOf(judge(keys, bytes)), "verified");
  },
);

test("the page names the limit", () => {
  assert.ok(page.text.includes(`at most ${PROOF_BYTES_MAX / 1024 ** 2} MiB`));
});
