/**
 * Mutations: every small change of a signed session's files, and the verdict on each.
 *
 * Method: the files are in memory. Signatures are really verified, and the results cached, since nearly
 * all mutants have the same ones.
 */

import assert from "node:assert/strict";
import type { VerifyReport } from "../../../src/trust/judge/report.ts";
import { verifyLog } from "../../../src/trust/judge/verify.ts";
import type { VerifyOptions } from "../../../src/trust/judge/verify-options.ts";
import { nodeCrypto } from "../../../src/trust/keys/node-crypto.ts";
import type { ProofCrypto } from "../../../src/trust/proof/crypto.ts";
import { hasSidecar } from "../../../src/trust/proof/envelopes.ts";
import { type MemoryFiles, memoryHost } from "../../support/memory-files.ts";
import { isTried } from "../../support/seed.ts";
import {
  ALL_SHAPES,
  filesOf,
  type SignedShape,
  SigningUser,
  said,
  type Written,
} from "../../support/signing-user.ts";

const LF = 0x0a;

/** The options by which a mutant is verified. */
type By = "pinned" | "unpinned";
const BOTH: readonly By[] = ["unpinned", "pinned"];
const UNPINNED: readonly By[] = ["unpinned"];

export class Mutants {
  readonly written: Written;
  readonly #files: MemoryFiles;
  readonly #options: Readonly<Record<By, VerifyOptions>>;
  readonly #stride: number;

  private constructor(
    written: Written,
    options: Readonly<Record<By, VerifyOptions>>,
    stride: number,
  ) {
    this.written = written;
    this.#files = filesOf(written);
    this.#options = options;
    this.#stride = stride;
  }

  /**
   * Mutants of an honest session of some lines, each with a checkpoint after it. With a stride of n,
   * every n-th change is made: for shapes that share their code with one that is tested fully.
   */
  static async of(shapeName: string, lines: 1 | 2, stride = 1): Promise<Mutants> {
    const user = new SigningUser();
    const shape = ALL_SHAPES[shapeName] as SignedShape;
    const written = await user.write(shape, [said("Say hello"), said("Again")].slice(0, lines));
    const crypto = remembering(nodeCrypto);
    const { target, path } = written;
    const options = {
      pinned: { ...(await user.judging(target, true)), crypto },
      unpinned: { ...(await user.judging(target, false)), crypto },
    };
    const mutants = new Mutants(written, options, stride);
    for (const [by, freshness] of [
      ["pinned", "match"],
      ["unpinned", "none"],
    ] as const) {
      const report = await mutants.judge(path, mutants.bytes(path), by);
      assert.deepEqual([report.verdict, report.freshness], ["verified", freshness]);
      // In a sidecar: the genesis over the empty log, and one at closing.
      assert.equal(report.checkpoints.total, hasSidecar(target.dialect) ? 2 : lines);
    }
    return mutants;
  }

  bytes(path: string): Uint8Array {
    return this.#files.get(path) ?? assert.fail(`${path} is not there`);
  }

  /** The verdict if a file has other bytes. */
  judge(path: string, bytes: Uint8Array, by: By): Promise<VerifyReport> {
    const host = memoryHost(new Map(this.#files).set(path, bytes));
    return verifyLog(host, this.written.target, this.#options[by]);
  }

  async refuses(path: string, bytes: Uint8Array, what: string, by: readonly By[] = BOTH) {
    for (const each of by) {
      const { verdict, findings } = await this.judge(path, bytes, each);
      if (verdict === "verified") assert.fail(`${what}, ${each}: verified`);
      if (!findings.some((finding) => finding.verdict === verdict)) {
        assert.fail(`${what}, ${each}: ${verdict}, and no finding says why`);
      }
    }
  }

  /**
   * One bit of every second byte; all of each with VERBATIM_DEEP=1. With a pin, which only adds
   * findings, half of them. A pin that weakened a check would show at some byte.
   */
  async refusesFlips(path: string): Promise<void> {
    const bytes = this.bytes(path).slice();
    for (let flip = 0; flip < bytes.length * 8; flip += this.#stride) {
      const [at, bit] = [Math.floor(flip / 8), flip % 8];
      const isSample = this.#stride > 1;
      if (!(isSample ? isTried(flip / this.#stride, 3) : isTried(at + bit, 16))) continue;
      const byte = bytes[at] as number;
      bytes[at] = byte ^ (1 << bit);
      const by = isSample || at % 2 === bit % 2 ? BOTH : UNPINNED;
      await this.refuses(path, bytes, `bit ${bit} of byte ${at} flipped`, by);
      bytes[at] = byte;
    }
  }

  /**
   * Every second byte deleted or doubled; each one both with
   * VERBATIM_DEEP=1. With a pin, half of them.
   */
  async refusesDeletionsAndDoublings(path: string): Promise<void> {
    const bytes = this.bytes(path);
    for (let at = 0; at < bytes.length; at += this.#stride) {
      const [before, byte, after] = [bytes.subarray(0, at), bytes[at] ?? 0, bytes.subarray(at + 1)];
      const nth = at / this.#stride;
      const by = Math.floor(nth / 4) % 2 === 0 ? BOTH : UNPINNED;
      if (isTried(nth, 4)) {
        await this.refuses(path, Buffer.concat([before, after]), `byte ${at} deleted`, by);
      }
      if (isTried(nth + 2, 4)) {
        const twice = Buffer.concat([before, Uint8Array.of(byte, byte), after]);
        await this.refuses(path, twice, `byte ${at} doubled`, by);
      }
    }
  }

  /**
   * Cut at every line's end and around it, and at every fourth length: the rest
   * is at most as good as it was when it ended there. All lengths with VERBATIM_DEEP=1.
   */
  async judgesCuts(path: string, checkpointEnds: readonly number[]): Promise<void> {
    const bytes = this.bytes(path);
    for (let length = 0; length < bytes.length; length++) {
      const isLineEnd = length === 0 || [-2, -1, 0].some((to) => bytes[length + to] === LF);
      if (length % this.#stride !== 0 && !isLineEnd) continue;
      if (!isLineEnd && !isTried(length / this.#stride, 4)) continue;
      const cut = bytes.subarray(0, length);
      await this.refuses(path, cut, `cut to ${length}`, ["pinned"]);
      const { verdict, freshness } = await this.judge(path, cut, "unpinned");
      const mayVerify = checkpointEnds.includes(length);
      assert.equal(verdict === "verified", mayVerify, `cut to ${length}, unpinned: ${verdict}`);
      assert.equal(freshness, "none");
    }
  }

  /** Where the checkpoint lines of a log end. */
  checkpointEnds(path: string): number[] {
    const ends: number[] = [];
    const bytes = Buffer.from(this.bytes(path));
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(LF, start) + 1;
      if (JSON.parse(bytes.toString("utf8", start, end)).event_type === "checkpoint")
        ends.push(end);
      start = end;
    }
    return ends;
  }
}

/** The cached results: those of the honest session, and of the last mutants. */
const REMEMBERED_MAX = 100;

function remembering(crypto: ProofCrypto): ProofCrypto {
  const known = new Map<string, boolean>();
  return {
    ...crypto,
    verifyEd25519: (publicKey, message, signature) => {
      const key = Buffer.concat([publicKey, signature, message]).toString("latin1");
      const answer = known.get(key) ?? crypto.verifyEd25519(publicKey, message, signature);
      known.delete(key);
      known.set(key, answer); // Moves it to the newest.
      if (known.size > REMEMBERED_MAX) known.delete(known.keys().next().value ?? "");
      return answer;
    },
  };
}
