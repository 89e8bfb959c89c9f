/**
 * Open transcript: a thread's log that stays open to be signed, from one checkpoint to the next.
 *
 * Opening it verifies the whole log. After that only new lines are judged, and everything before
 * them must still have its hash: a log that changed otherwise is not signed, and its owner opens it
 * again. The lock is held only while a checkpoint is written, so others may append between them.
 */

import { randomUUID } from "node:crypto";
import { VerbatimError } from "../../core/base/errors.ts";
import { openIfThere } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { NUL } from "../../core/log/bytes.ts";
import { writerOf } from "../../core/log/lock.ts";
import { INTENT_ENDING, openLogPath, openToRead } from "../../core/log/log-path.ts";
import { packageVersion } from "../../core/package-file.ts";
import { type Envelope, ryeDialect } from "../../dialects/rye/dialect.ts";
import { readEnvelope } from "../../dialects/rye/envelope.ts";
import { LOG_NAME } from "../../dialects/rye/thread-id.ts";
import { Session } from "../../sessions/store/session.ts";
import { StoreSigning } from "../../sessions/store/store-signing.ts";
import { readHashed, within } from "../../trust/judge/displayed-log.ts";
import { changedWhileRead } from "../../trust/judge/inspect.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import type { FoundRange } from "../../trust/proof/checkpoint.ts";
import { CLAIM_NEEDLE } from "../../trust/proof/claims.ts";
import { WholeLines } from "../../trust/proof/whole-lines.ts";
import type { SessionLog } from "../../trust/session-log.ts";
import type { CoveredPrefix } from "../../trust/signer/signer-state.ts";

export interface TranscriptToSign {
  readonly log: SessionLog & { readonly id: string };
  readonly isLegacyProfile: boolean;
}

/** How much of the log is read at once. */
const READ_BYTES = 256 * 1024;

export class OpenTranscript {
  readonly #target: TranscriptToSign;
  readonly #directory: Directory;
  readonly #session: Session;
  /** The log, to read it again. */
  readonly #file: OpenFile;
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES);

  private constructor(target: TranscriptToSign, directory: Directory, file: OpenFile) {
    this.#target = target;
    this.#directory = directory;
    this.#file = file;
    const signing = new StoreSigning(nodeHost, (warning) => {
      process.emitWarning(warning, "VerbatimWarning");
    });
    this.#session = sessionOf(target, signing);
  }

  /** Null if there is no transcript, or an empty one. */
  static async open(target: TranscriptToSign): Promise<OpenTranscript | null> {
    const { logId, root } = target.log;
    try {
      const place = await openLogPath(nodeHost, logId, { create: false, root });
      try {
        const file = openToRead(place);
        if (file.size() > 0) return new OpenTranscript(target, place.directory, file);
        file.close();
      } catch (cause) {
        place.directory.close();
        throw cause;
      }
      place.directory.close();
      return null;
    } catch (cause) {
      if (cause instanceof VerbatimError && cause.code === "LOG_NOT_FOUND") return null;
      throw cause;
    }
  }

  /** Signs the lines since the last checkpoint, if there are any. */
  async addCheckpoint(turn: number): Promise<void> {
    await this.#refuseOwnWriter();
    this.#refuseOtherFile();
    await this.#session.addCheckpoints(async ({ found, covered }) => {
      // Also without new lines: those that are signed must be as they were left.
      const isOthers = await this.#isOthers(found ?? [covered.bytes, covered.bytes], covered);
      if (!found) return [];
      return isOthers ? ["recovery"] : [{ vouches: null, turn }];
    });
  }

  /** Signs nothing more. Heads that are not pinned yet are. */
  async close(): Promise<void> {
    this.#file.close();
    this.#directory.close();
    await this.#session.abandon();
  }

  /** A checkpoint would be written to a file that was replaced, or is being erased from. */
  #refuseOtherFile(): void {
    const now = this.#directory.open(LOG_NAME, "read");
    try {
      const isSame = now.identity() === this.#file.identity();
      const intent = openIfThere(this.#directory, LOG_NAME + INTENT_ENDING);
      intent?.close();
      if (!isSame || intent) throw changedWhileRead(this.#session.path, 0);
    } finally {
      now.close();
    }
  }

  /** Waiting for the lock would be waiting for ourselves. */
  async #refuseOwnWriter(): Promise<void> {
    const { pid, started } = nodeHost.process;
    const holder = await writerOf(this.#directory, LOG_NAME);
    if (holder === null || holder === "unknown") return;
    if (holder.pid !== pid || holder.started !== started) return;
    const path = `${this.#directory.path}/${LOG_NAME}`;
    throw new VerbatimError(
      "LOG_LOCKED",
      `${path} is open for writing in this process, which signs it with \`sign: true\`; ` +
        "close it before a TranscriptSigner signs it",
      { path, holder },
    );
  }

  /**
   * Whether the found bytes contain NULs, or signatures of the older format: a person decides
   * whether to trust those (`doctor --fix --vouch`). They can only occur where nothing of this format is
   * signed. Checks exactly the bytes that are signed, or throws CHANGED_WHILE_READ.
   */
  async #isOthers(found: FoundRange, covered: CoveredPrefix): Promise<boolean> {
    let isOthers = false;
    const looksForLegacy = this.#target.isLegacyProfile && found[0] === 0;
    const whole = new WholeLines((lines) => {
      isOthers ||= nodeCrypto.indexOf(lines, CLAIM_NEEDLE, 0) !== -1;
    });
    const isSigned = await readHashed(this.#chunks(covered.bytes), covered, (chunk, at) => {
      const part = within(found, chunk, at);
      isOthers ||= part.includes(NUL);
      if (looksForLegacy) whole.feed(part.slice()); // It keeps what it is given.
    });
    if (!isSigned) throw changedWhileRead(this.#session.path, found[0]);
    return isOthers;
  }

  /** The log up to an offset. Each chunk is in the same memory: a new one each time is slow. */
  async *#chunks(to: number): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < to; ) {
      const count = await this.#file.read(this.#buffer.subarray(0, to - at), at);
      if (count === 0) throw changedWhileRead(this.#session.path, at);
      yield this.#buffer.subarray(0, count);
      at += count;
    }
  }
}

function sessionOf({ log, isLegacyProfile }: TranscriptToSign, signing: StoreSigning): Session {
  const { id, root, logId } = log;
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
        log,
        placeRoot: root,
        facts,
        isLegacyProfile,
        isEveryAppend: true,
      }),
    onClosed: () => {},
  });
}
