/**
 * Check whole: judges a session from its first byte to its last in this browser, with the code of
 * the command line (src/trust/proof), in pieces: memory does not grow with the log.
 */

import type { CheckpointPage } from "../../../src/client/session-shapes.ts";
import { fromHex, LF } from "../../../src/trust/proof/bytes.ts";
import { type EnvelopeName, readCheckpoint } from "../../../src/trust/proof/checkpoint.ts";
import type { Claim } from "../../../src/trust/proof/claims.ts";
import { DeepJudge } from "../../../src/trust/proof/deep.ts";
import { Judge } from "../../../src/trust/proof/judge.ts";
import { LogLedger } from "../../../src/trust/proof/ledger.ts";
import { TailJudge } from "../../../src/trust/proof/tail.ts";
import type { Finding, FindingCode, Verdict } from "../../../src/trust/proof/verdict.ts";
import { VoidHashes } from "../../../src/trust/proof/void-checkpoints.ts";
import { Walk, type WalkHandler } from "../../../src/trust/proof/walk.ts";
import { WholeLines } from "../../../src/trust/proof/whole-lines.ts";
import { type BytesSource, checkpointIn } from "./bytes-source.ts";
import { type AlteredRange, alteredOf, type CheckResult, turnAt, verdictOf } from "./checked.ts";

export type OnCheckProgress = (bytes: number, of: number) => void;

export async function checkWhole(
  source: BytesSource,
  onProgress: OnCheckProgress,
): Promise<CheckResult> {
  const page = await source.checkpoints(0);
  const { place } = page;
  const envelope = place === "sidecar" ? "sidecar" : envelopeOf(source);
  const checking = new Checking(source, page, envelope);
  if (place === "log") await checking.walkInside(onProgress);
  else await checking.walkBeside(onProgress);
  await checking.tail();
  return checking.checked();
}

/** The envelope of checkpoints inside a log. */
export function envelopeOf({ session }: BytesSource): EnvelopeName {
  return session.dialect === "entire" ? "entire" : "rye";
}

class Checking {
  readonly #source: BytesSource;
  readonly #page: CheckpointPage;
  /** Where the log ended when its sidecar had been read. */
  #logEnd: number;
  readonly #envelope: EnvelopeName;
  readonly #judge: Judge;
  readonly #hash;
  #deep: DeepJudge | null = null;
  readonly #altered: AlteredRange[] = [];
  readonly #findings: Finding[] = [];
  /** Where the segment of the next checkpoint begins. */
  #stretchFrom = 0;
  #turns = 0;
  #tailFrom = 0;
  #unsignedLines = 0;

  constructor(source: BytesSource, page: CheckpointPage, envelope: EnvelopeName) {
    this.#source = source;
    this.#page = page;
    this.#logEnd = page.end;
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
    this.#deep = new DeepJudge(LogLedger.begin({ crypto, salt, parts: first.parts, isSidecar }));
  }

  async walkInside(onProgress: OnCheckProgress): Promise<void> {
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
    if (this.#judge.voids.length > 0) await this.#checkVoids();
  }

  /** What void checkpoints were signed over, in a second pass. */
  async #checkVoids(): Promise<void> {
    const { bytesHash, voids } = this.#judge;
    const running = this.#source.crypto.runningSha256();
    const hashes = new VoidHashes(voids, running);
    const whole = new WholeLines((lines) => hashes.lines(lines));
    for await (const piece of this.#source.pieces(0, this.#page.end)) whole.feed(piece);
    if (hashes.wrong === null && running.hex() === bytesHash) return;
    const message = "a checkpoint is not at the byte it was signed at";
    this.#say("CHECKPOINT_MISPLACED", "tampered", hashes.wrong?.start ?? null, message);
  }

  #claim(line: Uint8Array, start: number, claim: Claim): void {
    this.#judge.claim(line, start, claim);
    if (this.#judge.isVoid(start)) {
      this.#deep?.lines(line);
      return;
    }
    this.#deeper(() => this.#deep?.claim(line, start, claim), start);
    if (claim.is !== "checkpoint") return;
    this.#stretchFrom = start + line.length;
    this.#turns = Math.max(this.#turns, turnAt(claim.checkpoint));
  }

  /** The checkpoints were read first, so the log that is read now has what they cover. */
  async walkBeside(onProgress: OnCheckProgress): Promise<void> {
    const source = this.#source;
    const lines: Uint8Array[] = [];
    for await (const line of source.sidecarLines(this.#page, 0)) lines.push(line);
    const { end } = await source.checkpoints(Math.max(0, this.#page.end - 1));
    this.#logEnd = end;
    let at = 0;
    let lastByte = LF;
    for (const line of lines) {
      const checkpoint = readCheckpoint(line.subarray(0, -1), "sidecar");
      if (checkpoint === null) {
        const message = "the sidecar has a line that is not a checkpoint";
        this.#say("SIDECAR_FOREIGN_BYTES", "tampered", null, message);
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
      if (place > end) this.#findings.push(shorter(end));
      const isAt = place === at && lastByte === LF;
      const actual = isAt ? this.#hash.hex() : "";
      this.#judge.checkpoint(checkpoint, line, { place, end: place }, actual);
      this.#deeper(() => this.#deep?.fromSidecar(checkpoint), place);
      this.#stretchFrom = place;
      this.#turns = Math.max(this.#turns, turnAt(checkpoint));
    }
    this.#judge.finish();
    this.#tailFrom = at;
    this.#findings.push(...sidecarFindings(this.#page));
  }

  /** Notes the segment when its leaves show that it was altered. */
  #deeper(compare: () => void, end: number): void {
    const before = this.#deep?.turns.length ?? 0;
    compare();
    const turns = this.#deep?.turns ?? [];
    if (turns.length === before) return;
    this.#altered.push({ from: this.#stretchFrom, to: end, turn: turns.at(-1) ?? null });
  }

  /** Judges the bytes after the last checkpoint. */
  async tail(): Promise<void> {
    if (this.#judge.total === 0) return;
    const isVoid = (at: number) => this.#judge.isVoid(at);
    const tail = newTail(this.#source, this.#envelope, this.#tailFrom, isVoid);
    for await (const piece of this.#source.pieces(this.#tailFrom, this.#page.end)) tail.feed(piece);
    tail.finish();
    this.#unsignedLines = tail.lines;
    this.#findings.push(...tailFindings(tail, this.#tailFrom, this.#page));
  }

  checked(): CheckResult {
    const judge = this.#judge;
    if (judge.total === 0 && judge.findings.length === 0) {
      this.#say("UNSIGNED", "unsigned", null, "nothing in it is signed");
    }
    if (judge.total > 0 && judge.legacy === judge.total) {
      this.#say("OLDER_FORMAT", "untrusted", null, "its checkpoints are of the older format");
    }
    const found = [...judge.findings, ...(this.#deep?.findings ?? []), ...this.#findings];
    const findings = found.filter((each) => isComparable(each, this.#logEnd));
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
      unsignedLines: this.#unsignedLines,
      signedAt: through?.ts ?? null,
    };
  }

  #say(code: FindingCode, verdict: Verdict, byteOffset: number | null, message: string): void {
    this.#findings.push({ code, verdict, byteOffset, turn: null, message });
  }
}

export function newTail(
  source: BytesSource,
  envelope: EnvelopeName,
  start: number,
  isVoid: (at: number) => boolean,
): TailJudge {
  const key = envelope === "sidecar" ? null : envelope === "entire" ? "sessionId" : "thread_id";
  const session = key === null ? null : { key, id: source.session.session };
  const isData = source.session.dialect === "claude";
  return new TailJudge({ envelope, session, start, isData, isVoid });
}

/**
 * Like src/trust/judge/assemble.ts; `ends` has the bytes after the last whole line, which are
 * not sent.
 */
export function tailFindings(
  { fault, lines, tornBytes, hasNul }: TailJudge,
  start: number,
  ends: Pick<CheckpointPage, "tornBytes" | "unfinishedBytes">,
): Finding[] {
  const findings: Finding[] = [];
  const say = (code: FindingCode, message: string) => {
    findings.push({ code, verdict: "incomplete", byteOffset: start, turn: null, message });
  };
  if (fault) findings.push({ ...fault, verdict: "tampered", turn: null });
  if (hasNul) say("NUL_TAIL", "there are NUL bytes after the signed part");
  const torn = tornBytes + ends.tornBytes + ends.unfinishedBytes;
  if (torn > 0) say("TORN_TAIL", `${torn} bytes of a torn line are after the signed part`);
  const are = lines === 1 ? "line is" : "lines are";
  if (lines > 0) say("UNSIGNED_TAIL", `${lines} ${are} after the signed part`);
  return findings;
}

/** Findings about the sidecar file itself. */
export function sidecarFindings({ foreignLines, newerLines }: CheckpointPage): Finding[] {
  const findings: Finding[] = [];
  const say = (code: FindingCode, verdict: Verdict, message: string) => {
    findings.push({ code, verdict, byteOffset: null, turn: null, message });
  };
  if (newerLines > 0) say("NEWER_FORMAT", "unreadable", "a checkpoint has a newer format");
  const foreign = "the sidecar has a line that is not a checkpoint";
  if (foreignLines > 0) say("SIDECAR_FOREIGN_BYTES", "tampered", foreign);
  return findings;
}

export function shorter(end: number): Finding {
  const message = `the log ends at byte ${end}, and more was signed`;
  const code = "LOG_SHORTER_THAN_SIDECAR";
  return { code, verdict: "rollback", byteOffset: end, turn: null, message };
}

const COMPARED = new Set<FindingCode>(["HASH_MISMATCH", "SEGMENT_MISMATCH", "TREE_MISMATCH"]);

/** Past the log's end there is nothing to compare: the finding is that it is shorter. */
function isComparable({ code, byteOffset }: Finding, end: number): boolean {
  return byteOffset === null || byteOffset <= end || !COMPARED.has(code);
}
