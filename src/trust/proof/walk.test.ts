/** Walking a log: the same lines and claims, however its bytes are split into chunks. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { testKey } from "../../../test/signing/json-key.ts";
import { proofCrypto } from "../../../test/support/proof-crypto.ts";
import { signedThread } from "../../../test/support/signed-thread.ts";
import type { Claim } from "./claims.ts";
import { Walk } from "./walk.ts";

const { signer } = testKey(3);
const KEY = { ...signer, publicKey: new Uint8Array(32) };

/** What a walk passed on, with runs of ordinary lines joined. */
function walked(chunks: readonly Uint8Array[]) {
  const told: (string | { line: string; start: number; is: Claim["is"] })[] = [];
  const walk = new Walk(proofCrypto, "rye", {
    lines: (bytes) => {
      const text = Buffer.from(bytes).toString("latin1");
      const last = told.at(-1);
      if (typeof last === "string") told[told.length - 1] = last + text;
      else told.push(text);
    },
    claim: (line, start, { is }) =>
      told.push({ line: Buffer.from(line).toString("latin1"), start, is }),
  });
  for (const chunk of chunks) walk.feed(chunk);
  return { told, end: walk.end, restBytes: walk.restBytes };
}

async function log(): Promise<Buffer> {
  const { bytes } = await signedThread(KEY, "hello-1", { turns: 2 });
  const others =
    '{"type":"checkpoint"}\n{"text":"a \\"checkpoint\\" is said"}\n\n{"v":["checkpoint"]}\n';
  return Buffer.concat([bytes, Buffer.from(others), Buffer.from('{"type":"checkpoint"')]);
}

test("a log cut in two at any byte gives the same lines as the whole", async () => {
  const bytes = await log();
  const whole = walked([bytes]);
  for (let at = 0; at <= bytes.length; at++) {
    assert.deepEqual(walked([bytes.subarray(0, at), bytes.subarray(at)]), whole, `cut at ${at}`);
  }
});

test("a log in any chunks, one byte each too, gives the same lines as the whole", async () => {
  const bytes = await log();
  const whole = walked([bytes]);
  assert.deepEqual(walked([...bytes].map((byte) => Uint8Array.of(byte))), whole);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 400 })), (sizes) => {
      const chunks: Uint8Array[] = [];
      let at = 0;
      for (const size of sizes) {
        chunks.push(bytes.subarray(at, at + size));
        at += size;
      }
      assert.deepEqual(walked([...chunks, bytes.subarray(at)]), whole);
    }),
  );
});

test("every byte up to the last LF is passed on once and in order, and claims with their offset", async () => {
  const bytes = await log();
  const { told, end, restBytes } = walked([bytes]);
  const texts = told.map((each) => (typeof each === "string" ? each : each.line));
  assert.equal(texts.join(""), bytes.toString("latin1", 0, end));
  assert.equal(end + restBytes, bytes.length);
  const claims = told.filter((each) => typeof each !== "string");
  assert.deepEqual(
    claims.map(({ is }) => is),
    ["checkpoint", "checkpoint", "impostor"],
  );
  for (const { line, start } of claims) {
    assert.equal(bytes.toString("latin1", start, start + line.length), line);
  }
});
