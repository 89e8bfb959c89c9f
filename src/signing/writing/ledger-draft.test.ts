import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { Ledger } from "../../proof/ledger.ts";
import { nodeCrypto } from "../keys/node-crypto.ts";
import { LedgerDraft } from "./ledger-draft.ts";

const LINE = /^[^\n]*$/;
const anySteps = fc.array(
  fc.oneof(
    fc.constant("hashed"),
    fc.constant("segment"),
    fc.record({ is: fc.constantFrom("lines", "checkpoint"), text: fc.stringMatching(LINE) }),
  ),
  { maxLength: 12 },
);

test("a ledger comes to the same through a draft, whenever it is hashed, and is untouched before", () => {
  fc.assert(
    fc.property(anySteps, fc.boolean(), (steps, isCommitted) => {
      const [through, plain] = [begun(), begun()];
      const before = saysOf(through);
      const draft = new LedgerDraft(through);
      for (const step of steps) {
        if (step === "hashed") assert.deepEqual(saysOf(draft.hashed()), saysOf(plain));
        else if (step === "segment") for (const each of [draft, plain]) each.beginSegment();
        else if (typeof step === "object") {
          const bytes = Buffer.from(`${step.text}\n`);
          const add = step.is === "lines" ? "addLines" : "addCheckpointLine";
          for (const each of [draft, plain]) each[add](bytes);
        }
        assert.equal(draft.bytes, plain.bytes);
        assert.deepEqual(saysOf(through), before);
      }
      if (isCommitted) assert.deepEqual(saysOf(draft.commit()), saysOf(plain));
      else assert.deepEqual(saysOf(through), before);
    }),
  );
});

function begun(): Ledger {
  const salt = new Uint8Array(32).fill(7);
  const ledger = Ledger.begin({ crypto: nodeCrypto, salt, parts: 64, isSidecar: false });
  ledger.addLines(Buffer.from("one\ntwo\n"));
  return ledger;
}

function saysOf(ledger: Ledger) {
  const { bytes, lines } = ledger;
  return { bytes, lines, hash: ledger.hash(), seg: ledger.seg(), tree: ledger.tree() };
}
