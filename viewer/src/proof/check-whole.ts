/**
 * Check whole: a session from its first byte to its last, judged in this browser by the code that
 * judges on the command line (src/proof), in pieces: memory does not grow with the log.
 */

import type { CheckpointPage } from "../../../src/client/session-shapes.ts";
import { fromHex, LF } from "../../../src/proof/bytes.ts";
import { type EnvelopeName, readCheckpoint } from "../../../src/proof/checkpoint.ts";
import type { Claim } from "../../../src/proof/claims.ts";
import { DeepJudge } from "../../../src/proof/deep.ts";
import { Judge } from "../../../src/proof/judge.ts";
import { Ledger } from "../../../src/proof/ledger.ts";
import { TailJudge } from "../../../src/proof/tail.ts";
import type { Finding, FindingCode, Verdict } from "../../../src/proof/verdict.ts";
import { Walk, type WalkHandler } from "../../../src/proof/walk.ts";
import { WholeLines } from "../../../src/proof/whole-lines.ts";
import { type BytesSource, checkpointIn } from "./bytes-source.ts";
import { type AlteredRange, alteredOf, type Checked, turnAt, verdictOf } from "./checked.ts";

export type OnProgress = (bytes: number, of: number) => void;

export async function checkWhole(source: BytesSource, onProgress: OnProgress): Promise<Checked> {
  const page = await source.checkpoints(0);
  const { place } = page;
  const envelope = place === "sidecar" ? "sidecar" : envelopeOf(source);
  const checking = new Checking(source, page, envelope);
  if (place === "log") await checking.walkInside(onProgress);
  else await checking.walkBeside(onProgress);
  await checking.tail();
  return checking.checked();
}

/** In whose words the checkpoints of a log begin that has them inside. */
export function envelopeOf({ session }: BytesSource): EnvelopeName {
  return session.dialect === "entire" ? "entire" : "rye";
}

class Checking {
  readonly #source: BytesSource;
  readonly #page: CheckpointPage;
  readonly #envelope: EnvelopeName;
  readonly #judge: Judge;
  readonly #hash;
  #deep: DeepJudge | null = null;
  readonly #altered: AlteredRange[] = [];
  readonly #findings: Finding[] = [];
  /** Where the stretch begins that the next checkpoint ends. */
  #stretchFrom = 0;
  #turns = 0;
  #tailFrom = 0;

  constructor(source: BytesSource, page: CheckpointPage, envelope: EnvelopeName) {
    this.#source = source;
    this.#page = page;
    this.#envelope = envelope;
    this.#hash = source.crypto.runningSha256();
    this.#judge = new Judge(
      {
        crypto: source.crypto,
        keys: source.keys,
        session: source.name,
        isEverySignature: true,
        isLegacyProfile: false,
        pinnedSeqOf: () => null,
      },
      this.#hash,
    );
    const first = page.genesis && checkpointIn(page.genesis.line, envelope);
    if (first?.kind !== "genesis") return;
    const { crypto } = source;
    const isSidecar = envelope === "sidecar";
    const salt = fromHex(first.salt);
    this.#deep = new DeepJudge(Ledger.begin({ crypto, salt, parts: first.parts, isSidecar }));
  }

  async walkInside(onProgress: OnProgress): Promise<void> {
    const { end } = this.#page;
    const handler: WalkHandler = {
      lines: (bytes) => {
        this.#judge.lines(bytes);
        this.#deep?.lines(bytes);
      },
      claim: (line, start, claim) => this.#claim(line, start, claim),
    };
    const walk = new Walk(this.#source.crypto, this.#envelope, handler);
    let done = 0;
    for await (const piece of this.#source.checkedPieces(0, end, this.#envelope)) {
      walk.feed(piece);
      done += piece.length;
      onProgress(done, end);
    }
    this.#judge.finish();
    this.#tailFrom = this.#judge.claimsEnd;
  }

  #claim(line: Uint8Array, start: number, claim: Claim): void {
    this.#judge.claim(line, start, claim);
    this.#deeper(() => this.#deep?.claim(line, start, claim), start);
    if (claim.is !== "checkpoint") return;
    this.#stretchFrom = start + line.length;
    this.#turns = Math.max(this.#turns, turnAt(claim.checkpoint));
  }

  /** The checkpoints were read first: what they cover is in the log that is read now. */
  async walkBeside(onProgress: OnProgress): Promise<void> {
    const source = this.#source;
    const lines: Uint8Array[] = [];
    for await (const line of source.beside(this.#page, 0)) lines.push(line);
    const { end } = await source.checkpoints(Math.max(0, this.#page.end - 1));
    let at = 0;
    let lastByte = LF;
    for (const line of lines) {
      const checkpoint = readCheckpoint(line.subarray(0, -1), "sidecar");
      if (checkpoint === null) {
        this.#say(
          "SIDECAR_FOREIGN_BYTES",
          "tampered",
          null,
          "what lies beside it is no checkpoint",
        );
        continue;
      }
      await source.ahead(checkpoint);
      if (this.#judge.total === 0 && checkpoint.kind === "genesis") {
        this.#hash.update(fromHex(checkpoint.salt));
      }
      const { byteOffset: place } = checkpoint;
      const whole = new WholeLines((bytes) => this.#deep?.lines(bytes));
      for await (const piece of source.pieces(at, Math.min(place, end))) {
        this.#hash.update(piece);
        whole.feed(piece);
        lastByte = piece.at(-1) ?? lastByte;
        at += piece.length;
        onProgress(at, end);
      }
      if (place > end) {
        this.#say(
          "LOG_SHORTER_THAN_SIDECAR",
          "rollback",
          end,
          "the log ends before what is signed",
        );
      }
      const isAt = place === at && lastByte === LF;
      const actual = isAt ? this.#hash.hex() : "";
      this.#judge.checkpoint(checkpoint, line, { place, end: place }, actual);
      this.#deeper(() => this.#deep?.beside(checkpoint), place);
      this.#stretchFrom = place;
      this.#turns = Math.max(this.#turns, turnAt(checkpoint));
    }
    this.#judge.finish();
    this.#tailFrom = at;
    if (this.#page.foreignLines > 0) {
      const message = "the file of checkpoints holds what is none";
      this.#say("SIDECAR_FOREIGN_BYTES", "tampered", null, message);
    }
  }

  /** Notes the stretch when the leaves say that it was altered. */
  #deeper(compare: () => void, end: number): void {
    const before = this.#deep?.turns.length ?? 0;
    compare();
    const turns = this.#deep?.turns ?? [];
    if (turns.length === before) return;
    this.#altered.push({ from: this.#stretchFrom, to: end, turn: turns.at(-1) ?? null });
  }

  /** What stands after the last checkpoint. */
  async tail(): Promise<void> {
    const { end } = this.#page;
    if (this.#judge.total === 0 || this.#tailFrom >= end) return;
    const tail = newTail(this.#source, this.#envelope, this.#tailFrom);
    for await (const piece of this.#source.pieces(this.#tailFrom, end)) tail.feed(piece);
    tail.finish();
    this.#findings.push(...tailFindings(tail, this.#tailFrom));
  }

  checked(): Checked {
    const judge = this.#judge;
    if (judge.total === 0 && judge.findings.length === 0) {
      this.#say("UNSIGNED", "unsigned", null, "nothing in it is signed");
    }
    if (judge.total > 0 && judge.legacy === judge.total) {
      this.#say("OLDER_FORMAT", "untrusted", null, "its checkpoints are of the older format");
    }
    const findings = [...judge.findings, ...(this.#deep?.findings ?? []), ...this.#findings];
    const through = judge.signedThrough;
    const { end } = this.#page;
    return {
      verdict: verdictOf(findings),
      isWhole: true,
      stretches: { held: through === null ? 0 : through.seq + 1, total: judge.total },
      turns: { held: through ? turnAt(through) : 0, total: this.#turns },
      bytes: { checked: end, total: end },
      keys: judge.keys,
      altered: alteredOf(this.#altered, findings, through?.end ?? 0),
      findings,
      signedAt: through?.ts ?? null,
    };
  }

  #say(code: FindingCode, verdict: Verdict, byteOffset: number | null, message: string): void {
    this.#findings.push({ code, verdict, byteOffset, turn: null, message });
  }
}

export function newTail(source: BytesSource, envelope: EnvelopeName, start: number): TailJudge {
  const key = envelope === "sidecar" ? null : envelope === "entire" ? "sessionId" : "thread_id";
  const session = key === null ? null : { key, id: source.session.session };
  const isData = source.session.dialect === "claude";
  return new TailJudge({ envelope, session, start, isData });
}

export function tailFindings({ fault, lines, tornBytes, hasNul }: TailJudge, start: number) {
  const findings: Finding[] = [];
  const turn = null;
  if (fault) findings.push({ ...fault, verdict: "tampered", turn });
  if (lines > 0 || tornBytes > 0 || hasNul) {
    const message = `${lines} ${lines === 1 ? "line stands" : "lines stand"} after what is signed`;
    const code = "UNSIGNED_TAIL";
    findings.push({ code, verdict: "incomplete", byteOffset: start, turn, message });
  }
  return findings;
}
