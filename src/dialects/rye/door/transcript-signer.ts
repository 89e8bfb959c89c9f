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
 */

import { randomUUID } from "node:crypto";
import { join, resolve } from "node:path";
import { badOption, checkChoice, checkKind, checkOptions } from "../../../base/choice.ts";
import { VerbatimError } from "../../../base/errors.ts";
import type { OpenFile } from "../../../base/files.ts";
import { nodeHost } from "../../../base/node-host.ts";
import { packageVersion } from "../../../base/package-file.ts";
import { NUL } from "../../../log/bytes.ts";
import { openLogPath, openToRead } from "../../../log/log-path.ts";
import type { Found } from "../../../proof/checkpoint.ts";
import { CLAIM_NEEDLE } from "../../../proof/claims.ts";
import { WholeLines } from "../../../proof/whole-lines.ts";
import { changedWhileRead } from "../../../signing/judging/inspect.ts";
import type { VerifyReport } from "../../../signing/judging/report.ts";
import { readCovered, within } from "../../../signing/judging/shown.ts";
import { verifyLog } from "../../../signing/judging/verify.ts";
import { nodeCrypto } from "../../../signing/keys/node-crypto.ts";
import type { SessionLog } from "../../../signing/session-log.ts";
import type { Covered } from "../../../signing/writing/signer-state.ts";
import { Session } from "../../../store/session.ts";
import { StoreSigning } from "../../../store/store-signing.ts";
import { UserJudging } from "../../../verifying/user-judging.ts";
import { type Envelope, ryeDialect } from "../dialect.ts";
import { readEnvelope } from "../envelope.ts";
import { LOG_NAME, THREADS_PATH, threadSegments } from "../thread-id.ts";

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

  constructor(threadId: string, threadDir: string, options: TranscriptSignerOptions = {}) {
    checkKind("threadId", threadId, "text");
    checkKind("threadDir", threadDir, "text");
    checkOptions("TranscriptSigner", options, { profile: "any" });
    const { profile } = options;
    checkChoice("profile", profile, ["rye"]);
    this.#log = placeOfThread(threadId, resolve(threadDir));
    this.#isLegacyProfile = profile === "rye";
  }

  /**
   * Signs the transcript up to its current end with the user's key, which is created if there is
   * none. Does nothing if there is no transcript, or no line since the last checkpoint. Throws
   * CHECKPOINT_MISMATCH if the earlier signatures do not verify or readers could disagree on a
   * line, and BAD_SETTING if the turn is not an integer from 0 on.
   */
  async checkpoint(turn: number): Promise<void> {
    if (!Number.isSafeInteger(turn) || turn < 0) {
      throw badOption("turn", `is a whole number from 0 on, and not ${String(turn)}`);
    }
    if (!(await this.#isThere())) return;
    const warnings: string[] = [];
    const signing = new StoreSigning(nodeHost, (warning) => warnings.push(warning));
    const session = this.#session(signing);
    try {
      await session.addCheckpoints(async ({ found, covered }) => {
        if (!found) return [];
        const isOthers = await this.#isOthers(found, covered);
        return isOthers ? ["recovery"] : [{ vouches: null, turn }];
      });
    } finally {
      await session.close();
      await signing.close();
    }
    for (const warning of warnings) process.emitWarning(warning, "VerbatimWarning");
  }

  /** Whether the transcript is unchanged since it was signed. Never throws. */
  async verify(): Promise<TranscriptIntegrity> {
    try {
      const onWarning = () => {}; // The report says so too (PIN_MAY_BE_MISSING).
      const judging = await UserJudging.load(nodeHost, { onWarning });
      const judged = await judging.optionsFor(this.#log);
      const options = { ...judged, isLegacyProfile: this.#isLegacyProfile };
      return integrityOf(await verifyLog(nodeHost, this.#log, options));
    } catch (cause) {
      const error = cause instanceof Error ? cause.message : String(cause);
      return { valid: false, checkpoints: 0, error, report: null };
    }
  }

  async #isThere(): Promise<boolean> {
    try {
      return await this.#look(async (file) => file.size() > 0);
    } catch (cause) {
      if (cause instanceof VerbatimError && cause.code === "LOG_NOT_FOUND") return false;
      throw cause;
    }
  }

  /**
   * Whether the found bytes contain NULs, or signatures of the older format: a person decides
   * whether to trust those (`repair --vouch`). They can only occur where nothing of this format is
   * signed. Checks exactly the bytes that are signed, or throws CHANGED_WHILE_READ.
   */
  async #isOthers(found: Found, covered: Covered): Promise<boolean> {
    let isOthers = false;
    const looksForLegacy = this.#isLegacyProfile && found[0] === 0;
    const whole = new WholeLines((lines) => {
      isOthers ||= nodeCrypto.indexOf(lines, CLAIM_NEEDLE, 0) !== -1;
    });
    const isSigned = await readCovered(nodeHost, this.#log, covered, (chunk, at) => {
      const part = within(found, chunk, at);
      isOthers ||= part.includes(NUL);
      if (looksForLegacy) whole.feed(part);
    });
    if (!isSigned) throw changedWhileRead(`${this.#log.root}/${this.#log.logId}`, found[0]);
    return isOthers;
  }

  async #look<T>(at: (file: OpenFile) => Promise<T>): Promise<T> {
    const { logId, root } = this.#log;
    const place = await openLogPath(nodeHost, logId, { create: false, root });
    try {
      const file = openToRead(place);
      try {
        return await at(file);
      } finally {
        file.close();
      }
    } finally {
      place.directory.close();
    }
  }

  #session(signing: StoreSigning): Session {
    const { id, root, logId } = this.#log;
    const dialectOf = (envelope: Envelope) => ({
      ...ryeDialect({ envelope }),
      logPath: () => logId.split("/"),
    });
    return new Session({
      host: nodeHost,
      id,
      root,
      dialect: dialectOf("flat"),
      agent: null,
      newId: randomUUID,
      nowMs: Date.now,
      cwd: root,
      version: packageVersion(),
      model: null,
      // Other writers may be appending, and hold the lock only while they do.
      logOptions: { mode: "shared" },
      adopt: (first) => dialectOf(readEnvelope(first).event?.envelope ?? "flat"),
      openDerived: null,
      openSigning: (_, facts) =>
        signing.open({
          log: this.#log,
          placeRoot: root,
          facts,
          isLegacyProfile: this.#isLegacyProfile,
          isEveryAppend: true,
        }),
      onClosed: () => {},
    });
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
    return { dialect: "rye", root, logId: join(above, LOG_NAME), id };
  }
  return { dialect: "rye", root: threadDir, logId: LOG_NAME, id };
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
