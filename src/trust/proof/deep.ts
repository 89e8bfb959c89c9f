/**
 * Deep: compares every line of a log, as a leaf, with the segment and tree of every checkpoint.
 *
 * A second pass, since the salt for the first line is in a later one. It names the altered turns,
 * where the first pass finds only the first checkpoint that no longer fits.
 */

import { type Checkpoint, turnBefore } from "./checkpoint.ts";
import type { Claim } from "./claims.ts";
import type { LogLedger } from "./ledger.ts";
import type { Finding } from "./verdict.ts";
import type { WalkHandler } from "./walk.ts";

export class DeepJudge implements WalkHandler {
  /** Everything up to the last line fed. */
  readonly ledger: LogLedger;
  readonly findings: Finding[] = [];
  /** Turns whose lines are not those that were signed, with their checkpoints. */
  readonly turns: number[] = [];
  readonly seqs: number[] = [];

  readonly #isVoid: (at: number) => boolean;

  /** `isVoid`: whether the line at an offset is a void checkpoint. */
  constructor(ledger: LogLedger, isVoid: (at: number) => boolean = () => false) {
    this.ledger = ledger;
    this.#isVoid = isVoid;
  }

  lines(bytes: Uint8Array): void {
    this.ledger.addLines(bytes);
  }

  claim(line: Uint8Array, start: number, claim: Claim): void {
    if (claim.is === "checkpoint" && !this.#isVoid(start)) {
      this.#compare(claim.checkpoint, start);
      this.ledger.addCheckpointLine(line);
    } else {
      this.lines(line);
    }
  }

  /** A sidecar checkpoint, whose bytes end here. */
  fromSidecar(checkpoint: Checkpoint): void {
    this.#compare(checkpoint, checkpoint.byteOffset);
    this.ledger.beginSegment();
  }

  #compare(checkpoint: Checkpoint, start: number): void {
    const { turn, seq, seg, tree } = checkpoint;
    const [ownSeg, ownTree] = [this.ledger.seg(), this.ledger.tree()];
    if (seg !== ownSeg) {
      const altered = turnBefore(checkpoint);
      if (!this.turns.includes(altered)) this.turns.push(altered);
      this.seqs.push(seq);
      const what = `lines that checkpoint ${seq} covers were altered before byte ${start}`;
      this.#say("SEGMENT_MISMATCH", start, turn, `${what}${linesOff(ownTree.size - tree.size)}`);
      this.ledger.countFrom(tree.size); // Otherwise one missing line would alter all later ones.
    }
    if (tree.size !== ownTree.size || (tree.root !== ownTree.root && this.turns.length === 0)) {
      this.#say("TREE_MISMATCH", start, turn, `the tree of checkpoint ${seq} is over other lines`);
    }
  }

  #say(code: Finding["code"], byteOffset: number, turn: number, message: string): void {
    if (this.findings.some((finding) => finding.code === code)) return; // `turns` lists all of them.
    this.findings.push({ code, verdict: "tampered", byteOffset, turn, message });
  }
}

function linesOff(count: number): string {
  if (count === 0) return "";
  const lines = Math.abs(count) === 1 ? "1 line" : `${Math.abs(count)} lines`;
  return `: ${lines} ${count < 0 ? "too few" : "too many"}`;
}
