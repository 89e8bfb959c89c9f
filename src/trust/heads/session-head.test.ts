import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import { type SignedLog, signedThread, signedTurns } from "../../../test/support/signed-thread.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import type { Signer } from "../keys/keys.ts";
import { loadSigner } from "../keys/keys.ts";
import { nodeCrypto } from "../keys/node-crypto.ts";
import type { Pin, PinnedHead } from "../proof/pin.ts";
import { Trust, transcriptKeys } from "../trusted-keys/trust.ts";
import { readHead, type StoredLog } from "./session-head.ts";

const PATHS = {
  rye: { id: "hello-1", logId: ".ai/threads/hello-1/transcript.jsonl" },
  homeagent: { id: "cook/s1", logId: "agents/cook/sessions/s1.jsonl" },
} as const;

/** A user with a key, and one of their sessions. */
class Signed {
  readonly root = tempDirectory();
  readonly session: StoredLog;
  readonly #places = {
    keyDirectory: join(tempDirectory(), "keys"),
    trustPath: join(tempDirectory(), "trust.json"),
  };

  constructor(dialect: keyof typeof PATHS) {
    this.session = { dialect, root: this.root, ...PATHS[dialect] };
  }

  get path(): string {
    return join(this.root, this.session.logId);
  }

  signer(): Promise<Signer> {
    return loadSigner(nodeHost, this.#places);
  }

  async put(turns: number): Promise<void> {
    const { dialect, id } = this.session;
    const sign = dialect === "rye" ? signedThread : signedTurns;
    const { bytes, sidecar }: SignedLog = await sign(await this.signer(), id, { turns });
    mkdirSync(dirname(this.path), { recursive: true });
    writeFileSync(this.path, bytes);
    if (sidecar.length > 0) writeFileSync(`${this.path}.checkpoints`, sidecar);
  }

  /** The head, judged with this pin. */
  async head(here: Pin | null = null) {
    const keys = transcriptKeys(await Trust.load(this.#places), this.session.id);
    const remembered = { here, ofLog: () => null, isDamaged: false };
    return readHead(nodeHost, this.session, { crypto: nodeCrypto, keys, remembered });
  }
}

function pinned(head: PinnedHead, change: Partial<PinnedHead> = {}): Pin {
  return { ...head, ...change, why: "signed" };
}

for (const dialect of ["rye", "homeagent"] as const) {
  test(`the head of a session is its newest checkpoint, whatever follows it (${dialect})`, async () => {
    const signed = new Signed(dialect);
    await signed.put(3);
    const { head, rollback } = await signed.head();
    assert.equal(rollback, null);
    assert.deepEqual(
      [head.place, head.id, head.seq, head.kind],
      [`${dialect}:${signed.root}`, signed.session.id, 2, "turn"],
    );
    assert.equal(head.kid, (await signed.signer()).kid);
    appendFileSync(signed.path, dialect === "rye" ? '{"ts":"x","type":"y"}\n' : "{}\n");
    assert.deepEqual((await signed.head()).head, head);
    await signed.put(1);
    assert.equal((await signed.head()).head.kind, "genesis");
  });

  test(`a pin that the log contradicts is reported with the head (${dialect})`, async () => {
    const signed = new Signed(dialect);
    await signed.put(3);
    const { head } = await signed.head();
    assert.equal((await signed.head(pinned(head))).rollback, null);
    const fork = pinned(head, { line: "0".repeat(64) });
    assert.equal((await signed.head(fork)).rollback, "FORK");
    const replaced = pinned(head, { log: "0".repeat(32) });
    assert.equal((await signed.head(replaced)).rollback, "REPLACED");
    const behind = pinned(head, { seq: 9 });
    assert.deepEqual(await signed.head(behind), { head, rollback: "BEHIND", surplus: null });
  });
}

test("a session that is missing, unsigned or altered has no head", async () => {
  const signed = new Signed("rye");
  const { details } = await refusal(signed.head(), "NOT_VERIFIED");
  assert.equal(details.verdict, "unreadable");
  mkdirSync(dirname(signed.path), { recursive: true });
  writeFileSync(signed.path, '{"ts":"x","type":"y"}\n');
  assert.equal((await refusal(signed.head(), "NOT_VERIFIED")).details.verdict, "unsigned");
  await signed.put(2);
  const { head } = await signed.head();
  writeFileSync(signed.path, '{"ts":"x","type":"y"}\n');
  const stripped = await refusal(signed.head(pinned(head)), "NOT_VERIFIED");
  assert.equal(stripped.details.verdict, "rollback");
});

test.each(["rye", "homeagent"] as const)(
  "for a signed log with no checkpoint left, the error says how to restore it or start over (%s)",
  async (dialect) => {
    const signed = new Signed(dialect);
    await signed.put(2);
    const pin = pinned((await signed.head()).head);
    if (dialect === "rye") writeFileSync(signed.path, "");
    else writeFileSync(`${signed.path}.checkpoints`, "");
    const { message } = await refusal(signed.head(pin), "NOT_VERIFIED");
    assert.match(
      message,
      /is rollback, and its head is not pinned: no checkpoint is left that holds/,
    );
    assert.match(message, /restore it from a copy, or start over: `verbatim keys head forget`/);
    assert.equal(message.includes(`move ${signed.path}.checkpoints away`), dialect !== "rye");
  },
);
