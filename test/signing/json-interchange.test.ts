/** JSON signing across languages: the seed's Python verifies what we sign, and the reverse. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { formatPythonJson } from "../../src/trust/proof/canonical-json.ts";
import { judgeJson, signJsonValue } from "../../src/trust/proof/json-signature.ts";
import { judgeThread, signThread } from "../../src/trust/proof/thread-signature.ts";
import { testKey } from "./json-key.ts";
import { hasCryptography, runPython } from "./python.ts";

const COUNT = 200;
const key = testKey(7);
const { publicPem, privatePem } = key;

type Fields = Record<string, unknown>;

function randomObjects(): Fields[] {
  const value = fc.jsonValue({ stringUnit: "binary", maxDepth: 3 });
  const fields = fc.dictionary(fc.string({ unit: "binary" }), value, { noNullPrototype: false });
  const samples = fc.sample(fields, { numRuns: COUNT, seed: 11 });
  return samples.map(({ _signature, _signature2, ...rest }) => rest);
}

function ask(question: string, texts: readonly string[]): unknown[] {
  const common = { ask: question, publicPem, privatePem };
  return runPython(
    "json_signature.py",
    [],
    texts.map((text) => ({ ...common, text })),
  );
}

function thread(id: string, more: Fields): Fields {
  const head = { seq: 3, byte_offset: 2847, line: "ab".repeat(32) };
  return { ...more, thread_id: id, rev: 5, head };
}

test.skipIf(!hasCryptography)("the seed's Python verifies every object we sign", async () => {
  const texts: string[] = [];
  for (const object of randomObjects()) {
    texts.push(formatPythonJson(await signJsonValue(object, key.signer)));
  }
  assert.deepEqual(ask("verify", texts), Array(COUNT).fill(true));
});

test.skipIf(!hasCryptography)("we verify every object that the seed's Python signs", () => {
  const texts = randomObjects().map((object) => JSON.stringify(object));
  for (const signed of ask("sign", texts) as string[]) {
    assert.ok(judgeJson(signed, key.judge()).ok, signed);
    // The original's last version writes no padding, and every reader accepts that.
    const unpadded = signed.replace(/==(?=:[0-9a-f]{16}"\n?\}$)/, "");
    assert.equal(unpadded.length, signed.length - 2);
    assert.ok(judgeJson(unpadded, key.judge()).ok, unpadded);
    assert.equal(judgeThread(unpadded, key.judge()).ok, false);
  }
});

test.skipIf(!hasCryptography)(
  "a thread signed twice is verified by the seed's Python, and by a verifier that knows both signatures",
  async () => {
    const texts: string[] = [];
    for (const [n, object] of randomObjects().entries()) {
      const text = formatPythonJson(await signThread(thread(`t/${n}`, object), key.signer));
      assert.ok(judgeThread(text, key.judge(`t/${n}`)).ok);
      texts.push(text);
    }
    assert.deepEqual(ask("verify", texts), Array(COUNT).fill(true));
    assert.deepEqual(ask("verify both", texts), Array(COUNT).fill(true));
  },
);

test.skipIf(!hasCryptography)(
  "a thread that Python reads, changes and signs as the seed does is not verified by us",
  async () => {
    // Its second signature is of the unchanged thread: a program with the key, but without our
    // rules, has changed it, and its revision is meaningless.
    const signed = await signThread(thread("t", { status: "running" }), key.signer);
    const changed = formatPythonJson(signed).replace('"running"', '"completed"');
    const [resigned] = ask("sign", [changed]) as [string];
    assert.ok(judgeJson(resigned, key.judge()).ok);
    assert.equal(reasonOf(judgeThread(resigned, key.judge("t"))), "bad signature");
  },
);

test.skipIf(!hasCryptography)(
  "splitting at colons, as the seed's text does, verifies no signature, not even its own",
  () => {
    const signed = ask("sign", ['{"thread_id":"t"}']) as string[];
    assert.deepEqual(ask("verify by splitting", signed), [false]);
    assert.deepEqual(ask("verify", signed), [true]);
  },
);

function reasonOf(verdict: { ok: boolean; reason?: string }): string | undefined {
  return verdict.reason;
}
