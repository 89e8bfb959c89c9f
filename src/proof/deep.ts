/**
 * Deep: every line of a log as a leaf, held against the segment and the tree of every checkpoint.
 *
 * A second pass, since the salt of the first line stands in a later one. It names the turns that
 * were altered, where the first pass only finds the first checkpoint that no longer fits.
 */

import { type Checkpoint, turnBefore } from "./checkpoint.ts";
import type { Claim } from "./claims.ts";
import type { Ledger } from "./ledger.ts";
import type { Finding } from "./verdict.ts";
import type { WalkHandler } from "./walk.ts";

export class DeepJudge implements WalkHandler {
  /** Everything up to the last line that was fed. */
  readonly ledger: Ledger;
  readonly findings: Finding[] = [];
  /** Turns whose lines are not those that were signed, and the checkpoints that say so. */
  readonly turns: number[] = [];
  readonly seqs: number[] = [];

  constructor(ledger: Ledger) {
    this.ledger = ledger;
  }

  lines(bytes: Uint8Array): void {
    this.ledger.addLines(bytes);
  }

  claim(line: Uint8Array, start: number, claim: Claim): void {
    if (claim.is === "checkpoint") {
      this.#compare(claim.checkpoint, start);
      this.ledger.addCheckpointLine(line);
    } else {
      this.lines(line);
    }
  }

  /** A checkpoint that lies beside the log, which ends here for it. */
  beside(checkpoint: Checkpoint): void {
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
      const what = `what checkpoint ${seq} covers was altered before byte ${start}`;
      this.#say("SEGMENT_MISMATCH", start, turn, `${what}${linesOff(ownTree.size - tree.size)}`);
      this.ledger.countFrom(tree.size); // Else one line too few alters all that come after it.
    }
    if (tree.size !== ownTree.size || (tree.root !== ownTree.root && this.turns.length === 0)) {
      this.#say("TREE_MISMATCH", start, turn, `the tree at turn ${turn} is of other lines`);
    }
  }

  #say(code: Finding["code"], byteOffset: number, turn: number, message: string): void {
    if (this.findings.some((said) => said.code === code)) return; // `turns` has them all.
    this.findings.push({ code, verdict: "tampered", byteOffset, turn, message });
  }
}

function linesOff(count: number): string {
  if (count === 0) return "";
  const lines = Math.abs(count) === 1 ? "1 line" : `${Math.abs(count)} lines`;
  return `: ${lines} ${count < 0 ? "too few" : "too many"}`;
}
