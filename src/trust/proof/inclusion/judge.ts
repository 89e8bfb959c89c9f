/**
 * Proof judge: whether the lines of a proof are part of the log that was signed.
 *
 * Pure and total: bytes, keys and crypto come in as arguments, and any bytes lead to a verdict. A
 * proof is read whole, up to PROOF_BYTES_MAX. Format: docs/formats/proof.md.
 *
 * - A line counts only at its index, under the first checkpoint that covers it: the checkpoint before
 *   that is in the proof, and covers less.
 * - Every signature is checked whose key is known. A checkpoint on which a line relies needs a key
 *   that is trusted.
 */

import { fromHex } from "../bytes.ts";
import { type Checkpoint, genesisHash, turnBefore } from "../checkpoint.ts";
import type { Gap } from "../disclosure/records.ts";
import type { KeyAnswer } from "../ed25519-keys.ts";
import { hasTurns } from "../envelopes.ts";
import { OTHER_GENESIS, refusedKeyText, unconfirmedGenesisText } from "../findings.ts";
import { isIncluded } from "../merkle.ts";
import { type Finding, findingOf, type Verdict, worse } from "../verdict.ts";
import {
  type CoveringCheckpoint,
  ProofContent,
  ProofFault,
  type ProofJudgeOptions,
  type ShownLeaf,
} from "./content.ts";
import type { ProofHeader } from "./records.ts";
import { statedMessageIn } from "./records.ts";

/** A line that is proven, or a stretch of a raw stream. */
export interface ProvenLine {
  /** Counted from 0. */
  readonly index: number;
  /** The prover's word. */
  readonly entry: number | null;
  /** Of a session: the turn that it is in. */
  readonly turn: number | null;
  /** The first checkpoint that covers it, and when that was signed, as its signer says. */
  readonly seq: number;
  readonly ts: string;
  /** With `x` in place of what is withheld. */
  readonly bytes: Uint8Array;
  readonly gaps: readonly Gap[];
}

export interface ProofJudgement {
  readonly header: ProofHeader | null;
  readonly session: string | null;
  readonly log: string | null;
  readonly genesis: "opened" | "stated" | null;
  /** The lines' hashes of the checkpoints, by number. That of genesis is known from its successor. */
  readonly checkpoints: ReadonlyMap<number, string>;
  /** The last checkpoint on which something relies. */
  readonly newest: Pick<Checkpoint, "seq" | "turn" | "ts"> | null;
  readonly lines: readonly ProvenLine[];
  /** Checkpoints whose trees are the beginning of the other's. */
  readonly consistent: readonly (readonly [number, number])[];
  readonly keys: readonly KeyAnswer[];
  /** Who states genesis. */
  readonly prover: KeyAnswer | null;
  readonly findings: readonly Finding[];
  /** By the findings; pinned heads are the caller's. */
  readonly verdict: Verdict;
}

/** What no reader of a proof can check. */
export function notCheckedIn(genesis: ProofJudgement["genesis"]): readonly string[] {
  return [
    "hash, sig and seg of every checkpoint",
    "entry numbers, which are the prover's word",
    "whether the log continued",
    ...(genesis ? ["sig2 and salt of genesis; prev of checkpoint 1"] : []),
  ];
}

export function judgeProof(bytes: Uint8Array, options: ProofJudgeOptions): ProofJudgement {
  const content = new ProofContent(options);
  const judge = new Relating(content, options);
  try {
    content.read(bytes);
    judge.relate();
  } catch (fault) {
    if (!(fault instanceof ProofFault)) throw fault;
    judge.findings.push(fault.finding);
  }
  return judge.judgement();
}

class Relating {
  readonly findings: Finding[] = [];
  readonly #options: ProofJudgeOptions;
  readonly #content: ProofContent;
  readonly #lines: ProvenLine[] = [];
  /** Checkpoints that something relies on, and those that only come before one. */
  readonly #relied = new Set<number>();
  readonly #needed = new Set<number>();
  #prover: KeyAnswer | null = null;
  /** What is stated of genesis counts. */
  #isConfirmed = false;

  constructor(content: ProofContent, options: ProofJudgeOptions) {
    this.#content = content;
    this.#options = options;
  }

  judgement(): ProofJudgement {
    const { findings } = this;
    const relied = [...this.#relied].sort((one, other) => one - other);
    const newest = this.#content.signed.get(relied.at(-1) ?? -1)?.checkpoint;
    const checkpoints = new Map([...this.#content.signed].map(([seq, { line }]) => [seq, line]));
    const first = this.#content.signed.get(1);
    if (first) checkpoints.set(0, first.checkpoint.prev);
    const verdict = findings.reduce<Verdict>(
      (so, each) => (each.verdict === null ? so : worse(so, each.verdict)),
      "verified",
    );
    const isWhole = verdict !== "tampered" && verdict !== "unreadable";
    return {
      header: this.#content.header,
      checkpoints,
      findings,
      verdict,
      prover: this.#prover,
      session: this.#content.last?.checkpoint.session ?? null,
      log: this.#content.last?.checkpoint.log ?? null,
      genesis: this.#content.opened ? "opened" : this.#content.stated ? "stated" : null,
      newest: newest ? { seq: newest.seq, turn: newest.turn, ts: newest.ts } : null,
      lines: isWhole ? this.#lines : [],
      consistent: isWhole ? this.#content.consistent : [],
      keys: [
        ...new Map([...this.#content.signed.values()].map(({ key }) => [key.kid, key])).values(),
      ],
    };
  }

  /** Puts the records together: what proves what. */
  relate(): void {
    if (this.#content.shown.length + this.#content.consistent.length === 0)
      this.#content.malformed("it proves nothing");
    this.#beginning();
    for (const each of this.#content.shown) this.#prove(each);
    for (const [from, to] of this.#content.consistent)
      for (const seq of [from, to]) this.#relied.add(seq || 1);
    for (const [seq, { checkpoint }] of this.#content.signed) {
      const isNeeded = this.#relied.has(seq) || this.#needed.has(seq);
      if (!isNeeded && checkpoint.kind !== "rotate")
        this.#content.malformed(`nothing needs checkpoint ${seq}`);
    }
    for (const seq of this.#relied) {
      const key = this.#content.signed.get(seq)?.key;
      if (!key?.refusal || this.findings.some(({ code }) => code === key.refusal)) continue;
      this.findings.push(
        findingOf(key.refusal, "untrusted", refusedKeyText(key, `checkpoint ${seq}`)),
      );
    }
  }

  /** Whether what is said of genesis fits checkpoint 1. */
  #beginning(): undefined {
    const first = this.#content.signed.get(1)?.checkpoint;
    if ((this.#content.opened || this.#content.stated) && !first)
      this.#content.malformed("checkpoint 1 is missing");
    if (this.#content.opened && first) {
      const { facts, leaf, record } = this.#content.opened;
      const place = {
        index: facts.tree.size,
        size: first.tree.size,
        root: fromHex(first.tree.root),
      };
      if (!isIncluded(this.#options.crypto, { leaf, ...place, proof: record.path })) {
        this.#content.fault("TREE_MISMATCH", "checkpoint 1 does not cover this genesis");
      }
      this.#relied.add(1);
    }
    if (!this.#content.stated || !first) return;
    const { facts, line } = this.#content.stated.record.genesis;
    const isGood =
      facts.parts === this.#content.header?.parts &&
      first.prev === line &&
      facts.tree.size <= first.tree.size &&
      facts.byteOffset <= first.byteOffset;
    if (!isGood)
      this.#content.fault(
        "CHAIN_BROKEN",
        "checkpoint 1 does not follow the genesis that is stated",
      );
    if (first.genesis !== undefined && first.genesis !== genesisHash(this.#options.crypto, facts))
      this.#content.fault("CHAIN_BROKEN", OTHER_GENESIS);
    this.#judgeStating(this.#content.stated, first);
  }

  #judgeStating(
    { record, line }: NonNullable<ProofContent["stated"]>,
    first: Checkpoint,
  ): undefined {
    const { stating } = record;
    const { crypto } = this.#options;
    const { rotations } = this.#content;
    rotations.comes(stating); // The last rotation in the file may name the key that states.
    const key = rotations.keyOf(stating);
    this.#prover = key;
    this.#isConfirmed = first.genesis !== undefined || rotations.isOfFirst(stating.kid);
    const message = statedMessageIn(line);
    if (key.publicKey && !crypto.verifyEd25519(key.publicKey, message, stating.sig)) {
      this.#content.fault("SIGNATURE_FALSE", "the signature of the stated genesis is not valid");
    } else if (key.refusal) {
      const who = "the statement about genesis";
      this.findings.push(findingOf(key.refusal, "untrusted", refusedKeyText(key, who)));
    }
  }

  /** Proves a line under the first checkpoint that covers it. */
  #prove({ record, leaf, bytes }: ShownLeaf): undefined {
    const { index, entry, path } = record;
    const covering = this.#coveringOf(index);
    const signed = covering.is === "stated" ? this.#content.signed.get(1)?.checkpoint : covering.by;
    if (!signed) return this.#content.malformed("checkpoint 1 is missing");
    const { tree } = signed;
    const claim = { leaf, index, size: tree.size, root: fromHex(tree.root), proof: path };
    if (!isIncluded(this.#options.crypto, claim)) {
      this.#content.fault(
        "TREE_MISMATCH",
        `line ${index + 1} is not what checkpoint ${signed.seq} covers`,
      );
    }
    const { by } = covering;
    this.#relied.add(Math.max(1, by.seq));
    this.#judgeFound(by, signed.seq, index);
    const turn = hasTurns(this.#content.header?.dialect ?? "") ? turnBefore(by) : null;
    const gaps = record.is === "line" ? record.gaps : [];
    this.#lines.push({ index, entry, turn, seq: by.seq, ts: by.ts, bytes, gaps });
  }

  /** The first checkpoint that covers a line, with the one before it in the proof. */
  #coveringOf(index: number): { readonly is: "shown" | "stated"; readonly by: CoveringCheckpoint } {
    const isInside = this.#content.envelope !== "sidecar";
    const opened = this.#content.opened?.facts;
    if (opened && opened.tree.size > index) return { is: "shown", by: opened };
    const by = [...this.#content.signed.values()].find(
      ({ checkpoint }) => checkpoint.tree.size > index,
    );
    if (!by) return this.#content.malformed(`no checkpoint covers line ${index + 1}`);
    const { checkpoint } = by;
    const stated = this.#isConfirmed ? this.#content.stated?.record.genesis.facts : undefined;
    if (checkpoint.seq === 1 && !opened && !stated) {
      this.#noBeginning(checkpoint.tree.size);
      return { is: "shown", by: checkpoint };
    }
    if (checkpoint.seq === 1 && stated && stated.tree.size > index)
      return { is: "stated", by: stated };
    const before =
      checkpoint.seq === 1
        ? (opened ?? stated)
        : this.#content.signed.get(checkpoint.seq - 1)?.checkpoint;
    if (!before)
      return this.#content.malformed(`the checkpoint before ${checkpoint.seq} is missing`);
    // In a log, that checkpoint is itself the line at the end of its tree.
    if (before.tree.size + (isInside ? 1 : 0) > index) {
      return this.#content.malformed(`line ${index + 1} is a checkpoint`);
    }
    this.#needed.add(before.seq);
    return { is: "shown", by: checkpoint };
  }

  /** Whether lines under checkpoint 1 were found unsigned is not known. */
  #noBeginning(firstSize: number): undefined {
    const by = this.#content.stated?.record.stating;
    const code = by ? "GENESIS_UNCONFIRMED" : "GENESIS_ABSENT";
    if (this.findings.some((each) => each.code === code)) return;
    const message =
      by && this.#prover
        ? unconfirmedGenesisText({ ...this.#prover, kid: by.kid }, firstSize)
        : "nothing is said about the beginning of the log";
    this.findings.push(findingOf(code, "incomplete", message));
  }

  /** Lines that a signer found unsigned count once a later checkpoint vouches for the same bytes. */
  #judgeFound(by: CoveringCheckpoint, provenBy: number, index: number): undefined {
    if (by.kind !== "genesis" && by.kind !== "recovery") return;
    const { found, vouched } = by;
    if (!found || vouched) return;
    const [from, to] = found;
    for (const { checkpoint, key } of this.#content.signed.values()) {
      const isVouch =
        checkpoint.kind === "recovery" &&
        checkpoint.vouched &&
        checkpoint.found?.[0] === from &&
        checkpoint.found[1] === to &&
        checkpoint.seq > by.seq;
      const isSame =
        checkpoint.seq === provenBy ||
        this.#content.consistent.some((each) => each[0] === provenBy && each[1] === checkpoint.seq);
      if (!isVouch || !isSame) continue;
      this.#relied.add(checkpoint.seq);
      if (key.refusal === null) return;
    }
    const message = `line ${index + 1} is among bytes that were found unsigned, and no checkpoint vouches for them`;
    const code = "FOUND_UNSIGNED";
    if (this.findings.some((each) => each.code === code)) return;
    this.findings.push({ code, verdict: "incomplete", byteOffset: null, turn: by.turn, message });
  }
}
