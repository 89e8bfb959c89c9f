/**
 * Transcript signer: signs and verifies the log of a thread that a runner writes by other means.
 * API of the transcript-integrity document.
 *
 * - By requesting a checkpoint, the caller vouches for the lines in the log: they are recorded as
 *   found and vouched for (`vouched`). Earlier signatures are verified first, and nothing is signed
 *   on top of a log that does not verify.
 * - NUL bytes, which a power cut leaves, are not lines: they are recorded as found, and a person
 *   has to vouch for them or remove them.
 * - Only checked bytes are vouched for: the bytes that are signed and those that were checked have
 *   the same hash.
 * - The log stays open between checkpoints (open-transcript.ts): reading keys, trust, pins and the
 *   whole log for each takes a hundred times as long.
 *
 * Judged transcript: the verdict on a thread's log, which is returned again as long as everything
 * that it depends on is unchanged. Comparing takes a fraction of checking hundreds of signatures.
 *
 * It depends on the bytes of the log, on thread.json, on pins, and on the user's keys and trust. The
 * bytes are those that were judged. Of thread.json and of the keys the time of the last change
 * counts, which a program that changes a file cannot set back.
 */

import { createHash } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { badOption, checkChoice, checkKind, checkOptions } from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import { readChunks } from "../../core/log/bytes.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import { provideDialect } from "../../dialects/all.ts";
import { rye } from "../../dialects/rye/dialect.ts";
import { LOG_NAME, META_NAME, THREADS_PATH, threadSegments } from "../../dialects/rye/thread-id.ts";
import { UserJudging } from "../../evidence/verify/user-judging.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { verifyLog } from "../../trust/judge/verify.ts";
import type { RememberedPins } from "../../trust/judge/verify-options.ts";
import { keyPaths, stampOf } from "../../trust/keys/current-keys.ts";
import type { SessionLog } from "../../trust/session-log.ts";
import { OpenTranscript } from "./open-transcript.ts";

/** How long the log stays open after a checkpoint, for the next one. */
const KEPT_OPEN_MS = 30_000;

/** Result of `verify`, as in the document. */
export interface TranscriptIntegrity {
  /** Every byte is covered by a trusted signature, and nothing seen before is missing. */
  readonly valid: boolean;
  readonly checkpoints: number;
  /** Why it is not valid. */
  readonly error?: string;
  readonly failed_at_turn?: number;
  readonly byte_offset?: number;
  /** Bytes after the last checkpoint. */
  readonly unsigned_bytes?: number;
  /** Nothing in it is signed, or there is no transcript. Not valid: signatures can be stripped. */
  readonly unsigned?: true;
  /** The full report; null if the user's keys, trust or pins cannot be read. */
  readonly report: VerifyReport | null;
}

export interface TranscriptSignerOptions {
  /**
   * Also reads checkpoints of the Python original, by keys that the user allowed for that format.
   */
  readonly profile?: "rye";
}

/**
 * Signs and verifies the transcript of a rye thread, whichever program wrote its events.
 *
 * @example
 * const signer = new TranscriptSigner(threadId, `${project}/.ai/threads/${threadId}`);
 * if (turn > 1) await signer.checkpoint(turn - 1); // all events of that turn are written
 * const integrity = await signer.verify();
 * if (!integrity.valid) throw new Error(integrity.error);
 */
export class TranscriptSigner {
  readonly #log: SessionLog & { readonly id: string };
  readonly #isLegacyProfile: boolean;
  readonly #judged: JudgedTranscript;
  /** Open since the last call, for a while. */
  #open: OpenTranscript | null = null;
  #idle: NodeJS.Timeout | undefined;
  /** The end of the last call: they come one after another. */
  #last: Promise<void> = Promise.resolve();

  constructor(threadId: string, threadDir: string, options: TranscriptSignerOptions = {}) {
    checkKind("threadId", threadId, "text");
    checkKind("threadDir", threadDir, "text");
    checkOptions("TranscriptSigner", options, { profile: "any" });
    const { profile } = options;
    checkChoice("profile", profile, ["rye"]);
    this.#log = placeOfThread(threadId, resolve(threadDir));
    this.#isLegacyProfile = profile === "rye";
    this.#judged = new JudgedTranscript(this.#log, this.#isLegacyProfile);
  }

  /**
   * Signs the transcript up to its current end with the user's key, which is created if there is
   * none. Does nothing if there is no transcript, or no line since the last checkpoint. Throws
   * CHECKPOINT_MISMATCH if the earlier signatures do not verify or readers could disagree on a
   * line, LOG_LOCKED if this process has the thread open for writing, and BAD_SETTING if the turn is
   * not an integer from 0 on.
   *
   * The log stays open for half a minute, so that the next call judges only what is new. Its head is
   * pinned shortly after.
   */
  checkpoint(turn: number): Promise<void> {
    const last = this.#last;
    const next = (async () => {
      if (!Number.isSafeInteger(turn) || turn < 0) {
        throw badOption("turn", `is a whole number from 0 on, and not ${String(turn)}`);
      }
      await last;
      await this.#checkpoint(turn);
    })();
    this.#last = next.catch(() => {});
    return next;
  }

  async #checkpoint(turn: number): Promise<void> {
    const kept = this.#open;
    try {
      if (kept) return await this.#addTo(kept, turn);
    } catch (cause) {
      if (cause instanceof VerbatimError && cause.code === "LOG_LOCKED") throw cause;
      // The log is not as it was left: it is opened again, and judged as a whole.
    }
    const target = { log: this.#log, isLegacyProfile: this.#isLegacyProfile };
    const opened = await OpenTranscript.open(target);
    if (opened) await this.#addTo(opened, turn);
  }

  /** Keeps it open for the next call, for a while, unless this one fails. */
  async #addTo(open: OpenTranscript, turn: number): Promise<void> {
    clearTimeout(this.#idle);
    this.#open = null;
    try {
      await open.addCheckpoint(turn);
    } catch (cause) {
      await open.close().catch(() => {}); // The first failure is what matters.
      throw cause;
    }
    this.#open = open;
    this.#idle = setTimeout(() => this.#close(), KEPT_OPEN_MS).unref();
  }

  #close(): void {
    const open = this.#open;
    this.#open = null;
    const onWarning = (cause: unknown) => process.emitWarning(String(cause), "VerbatimWarning");
    this.#last = this.#last.then(() => open?.close()).catch(onWarning);
  }

  /**
   * Whether the transcript is unchanged since it was signed. Never throws. A call after which
   * neither the thread nor keys, trust or pins changed only makes sure of that.
   */
  async verify(): Promise<TranscriptIntegrity> {
    try {
      return integrityOf(await this.#judged.verify());
    } catch (cause) {
      const error = cause instanceof Error ? cause.message : String(cause);
      return { valid: false, checkpoints: 0, error, report: null };
    }
  }
}

/**
 * The log in a thread's directory; with its project if the directory is where a project's threads
 * are.
 */
function placeOfThread(id: string, threadDir: string): SessionLog & { readonly id: string } {
  const segments = threadSegments(id);
  for (const above of [join(...THREADS_PATH, ...segments), join(...segments)]) {
    if (!threadDir.endsWith(`/${above}`)) continue;
    const root = threadDir.slice(0, -above.length - 1) || "/";
    return { dialect: provideDialect(rye), root, logId: join(above, LOG_NAME), id };
  }
  return { dialect: provideDialect(rye), root: threadDir, logId: LOG_NAME, id };
}

function integrityOf(report: VerifyReport): TranscriptIntegrity {
  const { verdict, checkpoints, findings, bad_range: bad, signed_through: through, tail } = report;
  const said = { checkpoints: checkpoints.total, report };
  if (verdict === "verified") return { valid: true, ...said };
  const why = findings.find((finding) => finding.verdict === verdict);
  const turn = bad?.turns[0] ?? why?.turn ?? (tail.bytes > 0 ? through?.turn : undefined) ?? null;
  const offset = why?.byte_offset ?? null;
  const isUnsigned = verdict === "unsigned" || (verdict === "unreadable" && isMissing(report));
  return {
    valid: false,
    ...said,
    error: why?.message ?? verdict,
    ...(turn === null ? {} : { failed_at_turn: turn }),
    ...(offset === null ? {} : { byte_offset: offset }),
    ...(tail.bytes > 0 ? { unsigned_bytes: tail.bytes } : {}),
    ...(isUnsigned ? { unsigned: true } : {}),
  };
}

function isMissing({ findings }: VerifyReport): boolean {
  return findings.some(({ code }) => code === "NOT_FOUND");
}

interface Judgement {
  readonly report: VerifyReport;
  readonly stamp: string;
  readonly pins: string;
  /** Of the bytes that were judged. */
  readonly hash: string;
}

class JudgedTranscript {
  readonly #log: SessionLog;
  readonly #isLegacyProfile: boolean;
  #last: Judgement | null = null;

  constructor(log: SessionLog, isLegacyProfile: boolean) {
    this.#log = log;
    this.#isLegacyProfile = isLegacyProfile;
  }

  /** Throws if the user's keys, trust or pins cannot be read. */
  async verify(): Promise<VerifyReport> {
    const stamp = this.#stamp();
    const onWarning = () => {}; // The report says so too (PIN_MAY_BE_MISSING).
    const judging = await UserJudging.load(nodeHost, { onWarning });
    const options = await judging.optionsFor(this.#log);
    const { remembered } = options;
    const last = this.#last;
    if (last && last.stamp === stamp && last.pins === pinsOf(last.report, remembered)) {
      if (last.hash === (await this.#hash())) return last.report;
    }
    const hash = createHash("sha256");
    const report = await verifyLog(nodeHost, this.#log, {
      ...options,
      isLegacyProfile: this.#isLegacyProfile,
      onBytes: (bytes) => hash.update(bytes),
    });
    const isSettled = stamp !== null && stamp === this.#stamp() && report.verdict !== "unreadable";
    const pins = pinsOf(report, remembered);
    this.#last = isSettled ? { report, stamp, pins, hash: hash.digest("hex") } : null;
    return report;
  }

  /** Null if a file changed just now. */
  #stamp(): string | null {
    const meta = join(this.#log.root, dirname(this.#log.logId), META_NAME);
    return stampOf([...keyPaths(userPaths()), meta], Date.now());
  }

  /** Null if the log cannot be read. */
  async #hash(): Promise<string | null> {
    const { logId, root } = this.#log;
    try {
      const place = await openLogPath(nodeHost, logId, { create: false, root });
      try {
        const file = openToRead(place);
        try {
          const hash = createHash("sha256");
          for await (const chunk of readChunks(file, 0, file.size())) hash.update(chunk);
          return hash.digest("hex");
        } finally {
          file.close();
        }
      } finally {
        place.directory.close();
      }
    } catch {
      return null;
    }
  }
}

/** All that pins say about the log. */
function pinsOf({ log }: VerifyReport, remembered?: RememberedPins): string {
  return JSON.stringify([remembered, log === null ? null : remembered?.ofLog(log)]);
}
