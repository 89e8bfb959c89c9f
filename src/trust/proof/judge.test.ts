/** The judge: key changes, found bytes, and which signature counts. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { testKey } from "../../../test/signing/json-key.ts";
import { proofCrypto as crypto } from "../../../test/support/proof-crypto.ts";
import {
  asciiJson,
  type CheckpointFacts,
  type CheckpointKind,
  writeCheckpoint,
} from "./checkpoint.ts";
import { DeepJudge } from "./deep.ts";
import type { KeyRefusal, Keys } from "./ed25519-keys.ts";
import { Judge, type JudgeOptions } from "./judge.ts";
import { LogLedger } from "./ledger.ts";
import { Walk } from "./walk.ts";

const SALT = Buffer.alloc(32, 9);
const ONE = testKey(1);
const TWO = testKey(2);
const LOG = Buffer.from(crypto.sha256(SALT)).toString("hex").slice(0, 32);

const GENESIS: CheckpointKind = {
  kind: "genesis",
  salt: SALT.toString("hex"),
  parts: 64,
  from: null,
  found: null,
  vouched: false,
};
const TURN: CheckpointKind = { kind: "turn" };

/** Writes a log, checkpoint by checkpoint, with any key. */
class Script {
  readonly ledger = LogLedger.begin({ crypto, salt: SALT, parts: 64, isSidecar: false });
  readonly #pieces: Uint8Array[] = [];
  #seq = 0;
  #prev = "0".repeat(64);

  get bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  line(text: string): this {
    const bytes = Buffer.from(`{"text":"${text}"}\n`);
    this.ledger.addLines(bytes);
    this.#pieces.push(bytes);
    return this;
  }

  async checkpoint(kind: CheckpointKind, key = ONE, change: Partial<CheckpointFacts> = {}) {
    const line = await this.#signed(kind, key, change);
    this.ledger.addCheckpointLine(line);
    this.#pieces.push(line);
    this.#seq++;
    this.#prev = Buffer.from(crypto.sha256(line)).toString("hex");
    return this;
  }

  /** A checkpoint before which another program's line landed: both are ordinary lines. */
  async displaced(kind: CheckpointKind, key = ONE, change: Partial<CheckpointFacts> = {}) {
    const from = this.ledger.bytes;
    const line = await this.#signed(kind, key, change);
    this.line("foreign");
    this.ledger.addLines(line);
    this.#pieces.push(line);
    return [from, this.ledger.bytes] as const;
  }

  async #signed(kind: CheckpointKind, { signer }: typeof ONE, change: Partial<CheckpointFacts>) {
    const { ledger } = this;
    const { fp, kid } = signer;
    const facts = {
      turn: this.#seq,
      byteOffset: ledger.bytes,
      hash: ledger.hash(),
      fp,
      kid,
      log: LOG,
      ts: "2026-02-09T04:03:50Z",
      seq: this.#seq,
      prev: this.#prev,
      seg: ledger.seg(),
      tree: ledger.tree(),
      rev: 0,
      ...kind,
      ...change,
    } as CheckpointFacts;
    const envelope = { ts: "now", type: "checkpoint", thread_id: "hello-1", directive: "hello" };
    const opening = `${asciiJson(envelope).slice(0, -1)},`;
    return writeCheckpoint(opening, facts, (message) => signer.sign(message));
  }
}

/** Keys ONE and TWO, and why each is refused. */
function keysOf(one: KeyRefusal | null = null, two: KeyRefusal | null = null): Keys {
  const none = testKey(99).judge().keys.byKid("", "");
  const of = ({ signer, judge }: typeof ONE, refusal: KeyRefusal | null) => {
    const answer = judge("", refusal ?? undefined).keys.byKid(signer.kid, "");
    return refusal === "KEY_UNKNOWN" ? { ...answer, publicKey: null } : answer;
  };
  return {
    byKid: (kid) => {
      if (kid === ONE.signer.kid) return of(ONE, one);
      return kid === TWO.signer.kid ? of(TWO, two) : none;
    },
    byFp: () => none,
  };
}

function judged(bytes: Uint8Array, options: Partial<JudgeOptions> = {}) {
  const judge = new Judge({
    crypto,
    keys: keysOf(),
    session: "hello-1",
    isEverySignature: true,
    isLegacyProfile: false,
    pinnedSeqOf: () => null,
    ...options,
  });
  new Walk(crypto, "rye", judge).feed(bytes);
  judge.finish();
  return {
    codes: judge.findings.map(({ code }) => code),
    through: judge.signedThrough?.seq ?? null,
    found: judge.found,
    judge,
  };
}

async function threeTurns(second = ONE): Promise<Script> {
  const script = await new Script().line("one").checkpoint(GENESIS);
  await script.line("two").checkpoint(TURN);
  return script.line("three").checkpoint(TURN, second);
}

test("an honest log is signed through its newest checkpoint, whether every signature or one is checked", async () => {
  const { bytes } = await threeTurns();
  for (const isEverySignature of [true, false]) {
    const { codes, through, judge } = judged(bytes, { isEverySignature });
    assert.deepEqual([codes, through], [[], 2]);
    assert.deepEqual([judge.total, judge.sound, judge.newestSeq], [3, 3, 2]);
    assert.equal(judge.log, LOG);
  }
});

test("a rotation hands over to the next key, and both signatures are checked", async () => {
  const script = await new Script().line("one").checkpoint(GENESIS);
  await script.checkpoint({ kind: "rotate", next: TWO.signer.kid });
  await script.line("two").checkpoint(TURN, TWO);
  for (const isEverySignature of [true, false]) {
    const { codes, through, judge } = judged(script.bytes, { isEverySignature });
    assert.deepEqual([codes, through], [[], 2]);
    assert.equal(judge.keys.length, 2);
  }
});

test("a checkpoint that another program displaced is void only if the next one states it as found", async () => {
  const after = async (
    found: (range: readonly [number, number]) => readonly [number, number] | null,
  ) => {
    const script = await new Script().line("one").checkpoint(GENESIS);
    const range = await script.line("two").displaced(TURN);
    const stated = found(range);
    const recovery = {
      kind: "recovery",
      cut: 0,
      found: stated,
      vouched: false,
      lost: null,
    } as const;
    await script.line("three").checkpoint(stated ? recovery : TURN);
    return judged(script.bytes).codes;
  };
  assert.deepEqual(await after((range) => range), ["FOUND_UNSIGNED"]);
  assert.deepEqual(await after(() => null), ["CHECKPOINT_MISPLACED"]);
  for (const change of [
    ([from, to]: readonly [number, number]) => [from, to - 1] as const,
    ([, to]: readonly [number, number]) => [to - 1, to] as const,
  ]) {
    assert.deepEqual(await after(change), ["CHECKPOINT_MISPLACED"]);
  }
});

test("of a displaced checkpoint everything but its place is right, and its key is trusted", async () => {
  const codes = async (change: Partial<CheckpointFacts>, key = ONE, options = {}) => {
    const script = await new Script().line("one").checkpoint(GENESIS);
    await script.line("two").displaced(TURN, key, change);
    return judged(script.bytes, options).codes;
  };
  assert.deepEqual(await codes({}), ["VOID_CHECKPOINT"]);
  const wrong: Partial<CheckpointFacts>[] = [
    { seq: 2 },
    { prev: "1".repeat(64) },
    { log: "0".repeat(32) },
    { byteOffset: 0 },
    { byteOffset: 1_000_000 },
    { fp: "0".repeat(16) },
  ];
  for (const change of wrong) {
    assert.notDeepEqual(await codes(change), ["VOID_CHECKPOINT"], JSON.stringify(change));
  }
  for (const refusal of ["KEY_UNKNOWN", "KEY_REVOKED", "KEY_EXPIRED"] as const) {
    const [first] = await codes({}, TWO, { keys: keysOf(null, refusal) });
    assert.equal(first, "CHECKPOINT_MISPLACED", refusal);
  }
  assert.deepEqual(await codes({}, ONE, { admitsVoid: false }), ["CHECKPOINT_MISPLACED"]);
});

test("when the newest key does not count, the last one that does is reported", async () => {
  const { bytes } = await threeTurns(TWO);
  for (const refusal of ["KEY_UNKNOWN", "KEY_REVOKED", "KEY_EXPIRED"] as const) {
    for (const isEverySignature of [true, false]) {
      const { codes, through } = judged(bytes, { keys: keysOf(null, refusal), isEverySignature });
      assert.deepEqual([codes, through], [[refusal], 1], `${refusal}, ${isEverySignature}`);
    }
  }
});

test("an older key that does not count is covered by the newest that does", async () => {
  const { bytes } = await threeTurns(TWO);
  for (const refusal of ["KEY_UNKNOWN", "KEY_REVOKED"] as const) {
    const { codes, through } = judged(bytes, { keys: keysOf(refusal, null) });
    assert.deepEqual([codes, through], [[], 2], refusal);
  }
});

test("a log by an unknown key is signed through nowhere", async () => {
  const { bytes } = await threeTurns();
  const { codes, through } = judged(bytes, { keys: keysOf("KEY_UNKNOWN") });
  assert.deepEqual([codes, through], [["KEY_UNKNOWN"], null]);
});

test("a false signature under a known key is reported, and earlier checkpoints still count", async () => {
  const stolen = { ...ONE, signer: { ...ONE.signer, sign: TWO.signer.sign } };
  const { bytes } = await threeTurns(stolen);
  const { codes, through } = judged(bytes);
  assert.deepEqual([codes, through], [["SIGNATURE_FALSE"], 1]);
});

test("a wrong short name with the right key is a false signature", async () => {
  const script = await new Script().line("one").checkpoint(GENESIS, ONE, { fp: TWO.signer.fp });
  assert.deepEqual(judged(script.bytes).codes, ["SIGNATURE_FALSE"]);
});

test("bytes found unsigned stay unsigned until a checkpoint vouches for the same bytes", async () => {
  const recovery = (found: readonly [number, number], vouched: boolean): CheckpointKind => {
    return { kind: "recovery", cut: 0, found, vouched, lost: null };
  };
  const script = await new Script().line("one").checkpoint(GENESIS);
  const from = script.ledger.bytes;
  const range = [from, script.line("unsigned").ledger.bytes] as const;
  await script.checkpoint(recovery(range, false));
  assert.deepEqual(judged(script.bytes).codes, ["FOUND_UNSIGNED"]);
  assert.deepEqual(judged(script.bytes).found, [range]);
  await script.line("two").checkpoint(TURN);
  assert.deepEqual(judged(script.bytes).codes, ["FOUND_UNSIGNED"], "time vouches for nothing");
  await script.checkpoint(recovery([range[0], range[1] - 1], true));
  assert.deepEqual(judged(script.bytes).found, [range], "not the same bytes");
  await script.checkpoint(recovery(range, true));
  assert.deepEqual(judged(script.bytes).codes, []);
});

test("a range of found bytes outside the log breaks the chain", async () => {
  for (const found of [
    [5, 4],
    [0, 10 ** 6],
  ] as const) {
    const script = await new Script()
      .line("one")
      .checkpoint({ ...GENESIS, found } as CheckpointKind);
    assert.deepEqual(judged(script.bytes).codes[0], "CHAIN_BROKEN");
  }
});

test("a checkpoint after the final one is reported as reopened, and is not a fault", async () => {
  const script = await new Script().line("one").checkpoint(GENESIS);
  await script.line("end").checkpoint({ kind: "final" });
  assert.deepEqual(judged(script.bytes).codes, []);
  await script.line("more").checkpoint(TURN);
  const { codes, through, judge } = judged(script.bytes);
  assert.deepEqual([codes, through], [["REOPENED"], 2]);
  assert.ok(judge.findings.every(({ verdict }) => verdict === null));
});

test("every field that ties a checkpoint to its log is judged, even if its signature is valid", async () => {
  const zeros = "0".repeat(64);
  for (const [change, code] of [
    [{ byteOffset: 1 }, "CHECKPOINT_MISPLACED"],
    [{ hash: zeros }, "HASH_MISMATCH"],
    [{ seq: 7 }, "CHAIN_BROKEN"],
    [{ prev: zeros }, "CHAIN_BROKEN"],
    [{ ...GENESIS }, "CHAIN_BROKEN"],
    [{ log: "0".repeat(32) }, "OTHER_LOG"],
  ] as const) {
    const script = await new Script().line("one").checkpoint(GENESIS);
    await script.line("two").checkpoint(TURN, ONE, change as Partial<CheckpointFacts>);
    const { codes, through } = judged(script.bytes);
    assert.deepEqual([codes, through], [[code], 0], JSON.stringify(change));
  }
  const { bytes } = await threeTurns();
  assert.deepEqual(judged(bytes, { session: "other-1" }).codes[0], "OTHER_SESSION");
  assert.deepEqual(judged(bytes, { session: null }).codes, [], "the session is unknown");
});

test("a log must begin with its genesis", async () => {
  const script = await new Script().line("one").checkpoint(TURN);
  assert.deepEqual(judged(script.bytes).codes, ["CHAIN_BROKEN"]);
});

test("after a fault no checkpoint vouches for anything", async () => {
  const script = await threeTurns();
  const altered = Buffer.from(script.bytes.toString("latin1").replace("two", "TWO"), "latin1");
  const { codes, through, judge } = judged(altered);
  assert.deepEqual([codes, through], [["HASH_MISMATCH"], 0]);
  assert.deepEqual([judge.total, judge.sound], [3, 1]);
});

test("the pinned checkpoint is noted in passing, and looked up once by the log's id", async () => {
  const { bytes } = await threeTurns();
  const asked: string[] = [];
  const pinnedSeqOf = (log: string) => asked.push(log);
  const { judge } = judged(bytes, { pinnedSeqOf });
  assert.deepEqual(asked, [LOG]);
  const lines = bytes.toString("latin1").split(/(?<=\n)/);
  assert.equal(
    judge.pinnedLine,
    Buffer.from(crypto.sha256(Buffer.from(lines[3] ?? ""))).toString("hex"),
  );
});

test("the deep pass names each altered turn, and only those", async () => {
  const script = await threeTurns();
  const deep = new DeepJudge(LogLedger.begin({ crypto, salt: SALT, parts: 64, isSidecar: false }));
  const altered = script.bytes.toString("latin1").replace("two", "TWO");
  new Walk(crypto, "rye", deep).feed(Buffer.from(altered, "latin1"));
  assert.deepEqual(deep.turns, [1]);
  assert.deepEqual(
    deep.findings.map(({ code }) => code),
    ["SEGMENT_MISMATCH"],
  );
  const clean = new DeepJudge(LogLedger.begin({ crypto, salt: SALT, parts: 64, isSidecar: false }));
  new Walk(crypto, "rye", clean).feed(script.bytes);
  assert.deepEqual([clean.turns, clean.findings], [[], []]);
});
