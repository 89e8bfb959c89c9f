/**
 * Another program appends lines to a signed log between any two calls of its signer. That
 * is no tampering, and no line is lost.
 */

import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { Store, type StoreOptions } from "../../src/sessions/store/store.ts";
import { hasSidecar } from "../../src/trust/proof/envelopes.ts";
import { findingsIn } from "../support/examining.ts";
import { errno } from "../support/refusal.ts";
import { isDeep, isTried, runs } from "../support/seed.ts";
import {
  ALL_SHAPES,
  idFor,
  type SignedShape,
  SigningUser,
  said,
  turnIn,
  type Written,
  writtenBy,
} from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { WatchedFiles } from "../support/watched-files.ts";
import { WRITER_KINDS } from "../support/writer-kinds.ts";

const TURNS = 3;
/** An ordinary run tries one in so many calls. */
const EVERY = 128;

/** A line as another program of the dialect writes one, with TEXT for what differs. */
async function foreignLine(shape: SignedShape): Promise<string> {
  const options = { agent: "hello", root: tempDirectory(), durability: "os", ...shape };
  const store = new Store(nodeHost, options as StoreOptions);
  const session = store.session(idFor(shape));
  await session.append(said("TEXT"));
  await store.close();
  const line = readFileSync(session.path, "utf8")
    .split("\n")
    .find((each) => each.includes("TEXT"));
  return (line ?? assert.fail()).replace(/"(uuid|id)":"[^"]+"/g, '"$1":"TEXT"');
}

/** Appends a whole line to the log before each call for which `isDue` says so. */
class ForeignWriter {
  readonly disk = new WatchedFiles();
  readonly lines: string[] = [];
  calls = 0;
  path = "";
  template = "";
  /** The signer is killed at this call: from then on nothing but closing works. */
  killedAt = Number.POSITIVE_INFINITY;

  constructor(isDue: (call: number) => boolean) {
    const before = () => {
      if (!isDue(++this.calls) || !existsSync(dirname(this.path))) return;
      const text = `foreign ${this.lines.length} ${"x".repeat(this.calls % 90)}`;
      const line = this.template.replaceAll("TEXT", text);
      appendFileSync(this.path, `${line}\n`);
      this.lines.push(line);
    };
    this.disk.before = ({ call }) => {
      before();
      if (this.calls >= this.killedAt && call !== "close") throw errno("EIO");
      return undefined;
    };
    this.disk.beforeLook = before;
  }
}

type Kind = Pick<StoreOptions, "durability" | "mode" | "sign">;

/** A user's session next to a foreign writer. */
class Shared {
  readonly user = new SigningUser();
  readonly root = tempDirectory();
  readonly foreign: ForeignWriter;
  /** Texts that were acknowledged, and where their entries end. */
  readonly acknowledged = new Map<string, number>();
  readonly #shape: SignedShape;
  readonly #kind: Kind;
  #written: Written | null = null;
  #wasKilled = false;

  constructor(shape: SignedShape, kind: Kind, isDue: (call: number) => boolean) {
    this.#shape = shape;
    this.#kind = kind;
    this.foreign = new ForeignWriter(isDue);
  }

  /** Opens the session, appends some turns and closes it; what is not acknowledged may be lost. */
  async write(name: string): Promise<void> {
    const onWarning = (warning: string) => void this.user.warnings.push(warning);
    const options = { agent: "hello", root: this.root, onWarning, ...this.#shape, ...this.#kind };
    const store = new Store(this.foreign.disk.host, options as StoreOptions);
    const session = store.session(idFor(this.#shape));
    this.foreign.path = session.path;
    this.foreign.template ||= await foreignLine(this.#shape);
    this.#written = writtenBy(store, session);
    const isDead = () => this.foreign.calls >= this.foreign.killedAt;
    try {
      for (let turn = 1; turn <= TURNS; turn++) {
        for (const entry of turnIn(session, `${name} ${turn}`)) {
          const end = await session.append(entry);
          const text = JSON.stringify(entry).match(new RegExp(`${name} \\d(: done)?`))?.[0];
          if (text !== undefined) this.acknowledged.set(text, end);
        }
      }
    } catch (error) {
      if (!isDead()) throw error;
    }
    this.#wasKilled ||= isDead();
    await store.close().catch((error) => assert.ok(isDead(), error));
  }

  /** What was acknowledged is where it was said to be, and derived files have all lines. */
  async checkUnsigned(what: string): Promise<void> {
    const bytes = readFileSync(this.#written?.path ?? assert.fail());
    for (const [text, end] of this.acknowledged) {
      const start = bytes.lastIndexOf(LF, end - 2) + 1;
      const line = bytes.toString("utf8", start, end);
      assert.ok(line.includes(text), `${text} ends at ${end}: ${what}\n${bytes}`);
    }
    const lines = bytes.toString().split("\n");
    if (this.foreign.lines.includes(lines.at(-2) ?? "")) return; // It came after all of ours.
    const findings = await findingsIn(this.root, this.#shape.dialect);
    const stale = findings.filter(({ code }) => code === "DERIVED_STALE");
    assert.deepEqual(stale, [], `${what}\n${bytes}`);
  }

  /** Every line is there, ours are signed and the others found. Returns the void checkpoints. */
  async check(what: string): Promise<number> {
    const { foreign, acknowledged, user } = this;
    const written = this.#written ?? assert.fail();
    const bytes = readFileSync(written.path);
    const report = await user.verify(written);
    const said = `${what}: ${JSON.stringify([report.findings, user.warnings])}\n${bytes}`;
    assert.ok(["verified", "incomplete"].includes(report.verdict), said);
    // What a killed signer left unsigned is found by the next, too.
    const isAlone = foreign.lines.length === 0 && !this.#wasKilled;
    if (isAlone) assert.equal(report.verdict, "verified", said);
    await this.checkUnsigned(said);
    const signedTo = report.signed_through?.end ?? 0;
    for (const [text, end] of acknowledged) {
      assert.ok(end <= signedTo, `${text} is not signed: ${said}`);
    }
    for (const line of foreign.lines) {
      const at = bytes.indexOf(`\n${line}\n`) + 1 || (bytes.indexOf(`${line}\n`) === 0 ? 0 : -1);
      assert.notEqual(at, -1, `${line} is lost: ${said}`);
      const isFound = report.found.some(([from, to]) => from <= at && at + line.length < to);
      assert.ok(isFound || at >= signedTo, `${line} is signed as if it were ours: ${said}`);
    }
    if (hasSidecar(this.#shape.dialect)) return 0;
    return bytes.toString().split("\n").filter(isCheckpoint).length - report.checkpoints.total;
  }
}

const LF = 0x0a;

function isCheckpoint(line: string): boolean {
  return line.includes('"event_type":"checkpoint"');
}

const KINDS: readonly Kind[] = WRITER_KINDS.flatMap(([, kind]) => [
  { ...kind, sign: "turn" },
  { ...kind, sign: "append" },
]);

test.for(Object.entries(ALL_SHAPES))(
  "a line of another program before any call is found, and ours are signed (%s)",
  async ([, shape]) => {
    let [cases, voids] = [0, 0];
    for (const kind of KINDS) {
      const alone = new Shared(shape, kind, () => false);
      await alone.write("alone");
      await alone.check("alone");
      for (let at = 1; at <= alone.foreign.calls; at++) {
        if (!isTried(++cases, EVERY)) continue;
        const shared = new Shared(shape, kind, (call) => call === at);
        await shared.write("first");
        voids += await shared.check(`${JSON.stringify(kind)}, call ${at}`);
      }
    }
    if (isDeep) assert.equal(voids > 0, !hasSidecar(shape.dialect));
  },
);

test("many lines of another program, and signers that are killed, lose and forge nothing", async () => {
  let voids = 0;
  const property = fc.asyncProperty(
    fc.constantFrom(...Object.values(ALL_SHAPES)),
    fc.constantFrom(...KINDS),
    fc.integer({ min: 30, max: 120 }),
    fc.nat(),
    fc.nat({ max: 150 }),
    async (shape, kind, rarity, from, killedAt) => {
      const isDue = (call: number) => mixed(from + call) % rarity === 0;
      const shared = new Shared(shape, kind, isDue);
      shared.foreign.killedAt = killedAt;
      await shared.write("first");
      shared.foreign.killedAt = Number.POSITIVE_INFINITY;
      await shared.write("second");
      voids += await shared.check("after both");
    },
  );
  await fc.assert(property, { numRuns: runs(120) });
  assert.ok(voids > 0, "no checkpoint was displaced");
});

/** A number that seems random, the same for the same one. */
function mixed(n: number): number {
  return Math.imul(Math.imul(n ^ (n >>> 15), 0x2c1b3c6d) ^ 0x297a2d39, 0x2c1b3c6d) >>> 9;
}

test("an unsigned thread has true offsets and its markdown next to another program, too", async () => {
  const shape = ALL_SHAPES["rye-flat"] ?? assert.fail();
  let cases = 0;
  for (const [, kind] of WRITER_KINDS) {
    const alone = new Shared(shape, { ...kind, sign: false }, () => false);
    await alone.write("alone");
    for (let at = 1; at <= alone.foreign.calls; at++) {
      if (!isTried(++cases, EVERY / 16)) continue;
      const shared = new Shared(shape, { ...kind, sign: false }, (call) => call === at);
      await shared.write("first");
      await shared.checkUnsigned(`${JSON.stringify(kind)}, call ${at}`);
    }
  }
});
