/**
 * Chain: what the next checkpoint of a log must continue: its session, its log, the number and the
 * line before it, and what genesis states.
 */

import type { Checkpoint } from "./checkpoint.ts";
import { OTHER_BYTES, OTHER_GENESIS, otherSession } from "./findings.ts";
import type { FindingCode } from "./verdict.ts";

const ZEROS = "0".repeat(64);

/** What is wrong with a checkpoint. */
export interface CheckpointFault {
  readonly code: FindingCode;
  readonly message: string;
}

export class CheckpointChain {
  /** The session that the checkpoints name; null: not known yet. */
  session: string | null;
  /** The log's id, as its genesis states. */
  log: string | null = null;
  /** The hash of what genesis states; null before it. */
  genesisHash: string | null = null;
  #seq = 0;
  /** Null after a genesis whose line is not known. */
  #prev: string | null = ZEROS;
  #hasHashFault = false;

  constructor(session: string | null) {
    this.session = session;
  }

  get next(): { readonly seq: number; readonly prev: string } {
    return { seq: this.#seq, prev: this.#prev ?? ZEROS };
  }

  /** The chain continues from this checkpoint. `line`: its line's hash. */
  add({ session, log, seq }: Checkpoint, line: string): void {
    this.session ??= session;
    this.log = log;
    this.#seq = seq + 1;
    this.#prev = line;
  }

  /** The chain continues from a genesis that is not here; `line`: its line's hash, if known. */
  addGenesisLine(line: string | null): void {
    this.#seq = 1;
    this.#prev = line;
  }

  /**
   * What is wrong with a checkpoint that covers the bytes up to `place`; `hash` is theirs, or null
   * when some are missing. Other bytes are a fault of the first checkpoint over them alone.
   */
  faultOf(checkpoint: Checkpoint, place: number, hash: string | null): CheckpointFault | null {
    const { kind, seq, byteOffset, prev, genesis } = checkpoint;
    const at = `checkpoint ${seq}`;
    if (byteOffset !== place) {
      const message = `${at} was signed at byte ${byteOffset} and is at byte ${place} now`;
      return { code: "CHECKPOINT_MISPLACED", message };
    }
    // A checkpoint of another log says nothing about this log's length.
    const foreign = hash === null ? this.#foreignFaultOf(checkpoint) : null;
    if (foreign) return foreign;
    if (checkpoint.hash !== hash && !this.#hasHashFault) {
      this.#hasHashFault = true;
      return { code: "HASH_MISMATCH", message: OTHER_BYTES(at) };
    }
    const other = this.#foreignFaultOf(checkpoint);
    if (other?.code === "OTHER_SESSION") return other;
    const isFirst = this.#seq === 0;
    const isNext = seq === this.#seq && prev === (this.#prev ?? prev);
    if (!isNext || (kind === "genesis") !== isFirst) {
      return { code: "CHAIN_BROKEN", message: `${at} does not follow the one before it` };
    }
    if (genesis !== undefined && genesis !== (this.genesisHash ?? genesis)) {
      return { code: "CHAIN_BROKEN", message: OTHER_GENESIS };
    }
    return other;
  }

  /** Whether a checkpoint is of this session and this log, as far as earlier ones say. */
  isOwn(checkpoint: Checkpoint): boolean {
    return this.#foreignFaultOf(checkpoint) === null;
  }

  #foreignFaultOf({ seq, session, log }: Checkpoint): CheckpointFault | null {
    if (this.session !== null && session !== this.session) {
      return { code: "OTHER_SESSION", message: otherSession(seq, session, this.session) };
    }
    if (this.log !== null && log !== this.log) {
      return { code: "OTHER_LOG", message: `checkpoint ${seq} is of another log` };
    }
    return null;
  }
}
