/**
 * Erased copy: checks a log that continues another one after an erasure against the disclosed copy
 * of that other log, `<log>.vbd`: the copy ends at the head that genesis names, its last link names
 * this log, and every line that it shows in full is in this log at the same place.
 *
 * Only a parent id may differ, where lines name the line before: checkpoints are not copied.
 */

import { createHash } from "node:crypto";
import { basename } from "node:path";
import { openIfThere } from "../../core/base/file-steps.ts";
import type { Host } from "../../core/base/host.ts";
import { openLogPath } from "../../core/log/log-path.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { readExactly } from "../../trust/judge/inspect.ts";
import {
  notVerified,
  type OpenVerifiedOptions,
  openVerifiedLog,
  type VerifiedLog,
} from "../../trust/judge/open-verified.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { verifyLog } from "../../trust/judge/verify.ts";
import type { StatedErasures, VerifyOptions } from "../../trust/judge/verify-options.ts";
import { LF } from "../../trust/proof/bytes.ts";
import { CLAIM_NEEDLE, claimOf } from "../../trust/proof/claims.ts";
import { COPY_EXTENSION } from "../../trust/proof/disclosure/copy-file.ts";
import { type DisclosedLine, DisclosureJudge } from "../../trust/proof/disclosure/judge.ts";
import { envelopeOf, hasSidecar } from "../../trust/proof/envelopes.ts";
import { type Finding, findingOf } from "../../trust/proof/verdict.ts";
import { WholeLines } from "../../trust/proof/whole-lines.ts";
import { type SessionLog, signedName } from "../../trust/session-log.ts";
import { withFindings } from "./judge-streams.ts";

/** Bytes of each line's digest. */
const DIGEST = 16;
const CLAIM = Buffer.from(CLAIM_NEEDLE);

/** Collects the lines of a log while it is verified. */
export class ErasedLines {
  readonly #target: SessionLog;
  readonly #digests: Buffer[] = [];
  readonly #whole: WholeLines;

  constructor(target: SessionLog) {
    this.#target = target;
    this.#whole = new WholeLines((bytes) => {
      for (let start = 0; start < bytes.length; ) {
        const end = bytes.indexOf(LF, start);
        const line = bytes.subarray(start, end);
        if (!this.#isCheckpoint(line)) this.#digests.push(this.digestOf(line));
        start = end + 1;
      }
    });
  }

  /** The judged bytes, in order. */
  feed(bytes: Uint8Array): void {
    this.#whole.feed(bytes);
  }

  isLine(n: number, line: Uint8Array): boolean {
    return this.#digests[n]?.equals(this.digestOf(line)) === true;
  }

  has(n: number): boolean {
    return n < this.#digests.length;
  }

  digestOf(line: Uint8Array): Buffer {
    const bytes = Buffer.from(line.buffer, line.byteOffset, line.length);
    const { chain } = dialectNamed(this.#target.dialect).writing ?? {};
    const text = chain ? withoutParent(bytes.toString("latin1"), chain.parentField) : bytes;
    return createHash("sha256").update(text).digest().subarray(0, DIGEST);
  }

  #isCheckpoint(line: Uint8Array): boolean {
    const { dialect } = this.#target;
    const bytes = Buffer.from(line.buffer, line.byteOffset, line.length);
    if (hasSidecar(dialect) || !bytes.includes(CLAIM)) return false;
    return claimOf(line, envelopeOf(dialect)) !== null;
  }
}

/** The line without its reference to the line before. */
function withoutParent(line: string, field: string): string {
  return line.replace(new RegExp(`"${field}":(?:"[^"\\\\]{0,200}"|null)`), "");
}

/** Like `verifyLog`; if a copy is next to the log, its findings count too. Never throws. */
export async function verifyWithCopy(
  host: Host,
  target: SessionLog,
  options: VerifyOptions,
): Promise<VerifyReport> {
  if (!(await hasCopy(host, target))) return withoutCopy(await verifyLog(host, target, options));
  const lines = new ErasedLines(target);
  const onBytes = (bytes: Uint8Array) => {
    options.onBytes?.(bytes);
    lines.feed(bytes);
  };
  const report = await verifyLog(host, target, { ...options, onBytes });
  return withCopyFindings(host, target, lines, report, options);
}

/** Like `openVerifiedLog`; refuses also if the copy next to the log contradicts it. */
export async function openWithCopy(
  host: Host,
  target: SessionLog,
  options: OpenVerifiedOptions,
): Promise<VerifiedLog> {
  if (!(await hasCopy(host, target))) return openVerifiedLog(host, target, options);
  const lines = new ErasedLines(target);
  // Sees the judged bytes.
  const erasures: StatedErasures = {
    onBytes: (bytes) => {
      options.erasures?.onBytes(bytes);
      lines.feed(bytes);
    },
    within: (end, found) => options.erasures?.within(end, found) ?? [],
  };
  const opened = await openVerifiedLog(host, target, { ...options, erasures });
  const report = await withCopyFindings(host, target, lines, opened.report, options);
  if (report.verdict === opened.report.verdict) return opened;
  opened.close();
  throw notVerified(report);
}

/** The report on a log, with what its copy adds. */
async function withCopyFindings(
  host: Host,
  target: SessionLog,
  lines: ErasedLines,
  report: VerifyReport,
  options: VerifyOptions,
): Promise<VerifyReport> {
  if (report.verdict !== "verified" && report.verdict !== "incomplete") return report;
  const copyId = target.logId + COPY_EXTENSION;
  const findings = await erasedCopyFindings(host, target, copyId, lines, report, options).catch(
    (cause: unknown) => [findingOf("UNREADABLE", "unreadable", `${copyId}: ${String(cause)}`)],
  );
  return findings === null ? withoutCopy(report) : withFindings(report, findings);
}

/** An erasure without its copy is only the signer's word. */
function withoutCopy(report: VerifyReport): VerifyReport {
  const { erasures, from } = report;
  if (!erasures.some(({ log }) => log !== null && log === from?.log)) return report;
  const message =
    "no copy of the log before the erasure is next to it, so that nothing but its signer's word " +
    "says that only text was erased";
  return withFindings(report, [findingOf("ERASED_COPY_MISSING", null, message)]);
}

/** Whether a log has such a copy next to it. */
async function hasCopy(host: Host, { root, logId }: SessionLog): Promise<boolean> {
  try {
    const { directory, name } = await openLogPath(host, logId, { create: false, root });
    try {
      const file = openIfThere(directory, name + COPY_EXTENSION);
      file?.close();
      return file !== null;
    } finally {
      directory.close();
    }
  } catch {
    return false; // Whatever it is, the verdict on the log itself reports it.
  }
}

/**
 * `copyId`: the path of the copy below the root. Findings for a verified log; null if it is a copy of
 * this log itself, which a person put there, and says nothing of an erasure.
 */
export async function erasedCopyFindings(
  host: Host,
  target: SessionLog,
  copyId: string,
  lines: ErasedLines,
  { log, from }: VerifyReport,
  { crypto, keys }: VerifyOptions,
): Promise<readonly Finding[] | null> {
  const { root } = target;
  let [line, fault] = [0, null as string | null];
  const onShown = ({ is, bytes, gaps }: DisclosedLine) => {
    if (is !== "line" && is !== "withheld") return;
    const n = line++;
    const isWhole = is === "line" && bytes !== null && gaps.length === 0;
    if (isWhole && !lines.isLine(n, bytes)) fault ??= `entry ${n + 1} of it is not in the log`;
  };
  const judge = new DisclosureJudge({ crypto, keys, pinnedSeqOf: () => null, onShown });
  const place = await openLogPath(host, copyId, { create: false, root });
  try {
    const file = openIfThere(place.directory, place.name);
    if (!file) return [findingOf("ERASED_COPY_MISMATCH", "tampered", `${place.path} is missing`)];
    try {
      for await (const chunk of readExactly(file, 0, file.size(), place.path)) judge.feed(chunk);
    } finally {
      file.close();
    }
  } finally {
    place.directory.close();
  }
  const { judge: copied, findings, statement } = judge.finish();
  const bad = findings.find(({ verdict }) => verdict !== null && verdict !== "incomplete");
  const link = copied.links.at(-1);
  const name = basename(copyId);
  const told = (why: string) => [
    findingOf("ERASED_COPY_MISMATCH", bad?.verdict ?? "tampered", `${name}: ${why}`),
  ];
  if (bad?.verdict !== "tampered" && log !== null && copied.log === log) return null;
  if (bad) return told(bad.message);
  if (copied.session !== signedName(target)) return told("it is of another session");
  if (!from || statement?.head.log !== from.log || statement.head.line !== from.line) {
    return told("it does not end where this log says that it begins");
  }
  if (link?.id !== target.id || link?.log !== log) return told("it does not name this log");
  if (fault === null && !lines.has(line - 1)) fault = "the log has fewer lines than the copy";
  return fault === null ? [] : told(fault);
}
