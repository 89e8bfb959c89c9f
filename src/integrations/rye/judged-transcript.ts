/**
 * Judged transcript: the verdict on a thread's log, which is returned again as long as everything
 * that it depends on is unchanged. Comparing takes a fraction of checking hundreds of signatures.
 *
 * It depends on the bytes of the log, on thread.json, on pins, and on the user's keys and trust. The
 * bytes are those that were judged. Of thread.json and of the keys the time of the last change
 * counts, which a program that changes a file cannot set back.
 */

import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { nodeHost } from "../../core/base/node-host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import { readChunks } from "../../core/log/bytes.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import { META_NAME } from "../../dialects/rye/thread-id.ts";
import { UserJudging } from "../../evidence/verify/user-judging.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { verifyLog } from "../../trust/judge/verify.ts";
import type { RememberedPins } from "../../trust/judge/verify-options.ts";
import { keyPaths, stampOf } from "../../trust/keys/current-keys.ts";
import type { SessionLog } from "../../trust/session-log.ts";

interface Judged {
  readonly report: VerifyReport;
  readonly stamp: string;
  readonly pins: string;
  /** Of the bytes that were judged. */
  readonly hash: string;
}

export class JudgedTranscript {
  readonly #log: SessionLog;
  readonly #isLegacyProfile: boolean;
  #last: Judged | null = null;

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
