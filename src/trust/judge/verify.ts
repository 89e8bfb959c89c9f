/**
 * Verify: the verdict on one session's log, with everything that led to it.
 *
 * Never throws: for any file content and any disk error the result is a report. Nothing is written,
 * and no key is created.
 *
 * V4  The pin is read before the log is opened: a concurrent writer can then only be ahead of it.
 */

import { openIfThere } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { readStretch } from "../../core/log/bytes.ts";
import { type LogPath, openLogPath, openToRead } from "../../core/log/log-path.ts";
import { LF } from "../proof/bytes.ts";
import { envelopeOf, hasSidecar } from "../proof/envelopes.ts";
import type { Finding } from "../proof/verdict.ts";
import { contentOf, type SignableLog, sidecarOf, signedName } from "../session-log.ts";
import { type LogInspection, reportOf, sidecarFindings, unreadableReport } from "./assemble.ts";
import { changedWhileRead, type Inspection, type InspectOptions, inspectLog } from "./inspect.ts";
import { inspectBare, inspectSidecar } from "./inspect-sidecar.ts";
import type { VerifyReport } from "./report.ts";
import { NOTHING_REMEMBERED, type VerifyOptions } from "./verify-options.ts";

const CR = 0x0d;
/** A conversion changes every line, so the first ones are enough. */
const LOOKED_AT_BYTES = 64 * 1024;

const MESSAGE =
  "the file's line endings were converted to CRLF, so that no signature fits; convert them back to " +
  "LF (a checkout by git: `* -text` in .gitattributes), and verify it again";

/**
 * Distinguishes a log whose lines were converted to CRLF, by a checkout or an editor,
 * from other alterations. The verdict is `tampered` in both cases: the bytes differ.
 *
 * The report, with converted line endings as its first finding if that is what happened.
 */
async function withLineEndings(
  report: VerifyReport,
  files: readonly OpenFile[],
): Promise<VerifyReport> {
  if (report.verdict !== "tampered") return report;
  let isConverted = false;
  for (const file of files) isConverted ||= await hasCrlf(file);
  if (!isConverted) return report;
  const { bad_range: bad } = report;
  const code = "LINE_ENDINGS_CONVERTED" as const;
  const finding = {
    code,
    verdict: "tampered",
    byte_offset: null,
    turn: null,
    message: MESSAGE,
  } as const;
  return {
    ...report,
    bad_range: bad && { ...bad, turns: [] },
    findings: [finding, ...report.findings],
  };
}

/** Whether every line at the beginning of a file ends in CRLF. */
async function hasCrlf(file: OpenFile): Promise<boolean> {
  const bytes = await readStretch(file, 0, Math.min(file.size(), LOOKED_AT_BYTES));
  let lines = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    if (at === 0 || bytes[at - 1] !== CR) return false;
    lines++;
  }
  return lines > 0;
}

/** Files up to this size are always checked in depth. */
export const DEEP_BYTES = 64 * 1024 * 1024;

/** The verdict on a session. Never throws. */
export async function verifyLog(
  host: Host,
  target: SignableLog,
  options: VerifyOptions,
): Promise<VerifyReport> {
  let hasCheckpoints = false;
  try {
    const place = await openLogPath(host, target.logId, { create: false, root: target.root });
    try {
      const { directory, name } = place;
      hasCheckpoints = hasSidecar(target.dialect) && !!sizeIfThere(directory, sidecarOf(name));
      const log = openToRead(place);
      try {
        return await judgeOpen(place, log, target, options);
      } finally {
        log.close();
      }
    } finally {
      place.directory.close();
    }
  } catch (cause) {
    return unreadableReport(target, options, cause, hasCheckpoints);
  }
}

/** Like `verifyLog`, for a log that is already open; disk errors are thrown. */
export async function judgeOpen(
  place: LogPath,
  log: OpenFile,
  target: SignableLog,
  options: VerifyOptions,
): Promise<VerifyReport> {
  if (!hasSidecar(target.dialect)) {
    const inspected = await inspectInside(log, target, options);
    return withLineEndings(reportOf(target, options, inspected), [log]);
  }
  const sidecar = openIfThere(place.directory, sidecarOf(place.name));
  try {
    const inspected = await inspectWithSidecar(log, sidecar, target, options);
    const files = sidecar ? [log, sidecar] : [log];
    return await withLineEndings(reportOf(target, options, inspected), files);
  } finally {
    sidecar?.close();
  }
}

async function inspectInside(
  log: OpenFile,
  target: SignableLog,
  options: VerifyOptions,
): Promise<LogInspection> {
  const envelope = envelopeOf(target.dialect);
  const inspecting = inspectOptions(target, options, log.size());
  const inspection = await inspectLog(log, envelope, inspecting);
  const extra = await fileFindings(log, inspection, options);
  const isFalse = inspection.judge.findings.some(({ code }) => code === "SIGNATURE_FALSE");
  if (inspecting.isEverySignature || !isFalse) return { inspection, extra };
  // To find an older valid checkpoint, every signature must be checked.
  const every = { ...inspecting, isEverySignature: true, onBytes: undefined };
  const { judge, bytes } = inspection;
  const again = await inspectLog(log, envelope, every, bytes);
  const isSame = again.judge.bytesHash === judge.bytesHash;
  if (!isSame) throw changedWhileRead(inspecting.path, 0); // inspect.ts, V5
  return { inspection: again, extra };
}

async function inspectWithSidecar(
  log: OpenFile,
  sidecar: OpenFile | null,
  target: SignableLog,
  options: VerifyOptions,
): Promise<LogInspection> {
  const inspecting = inspectOptions(target, options, log.size());
  if (!sidecar && inspecting.content !== "lines") {
    return { inspection: await inspectBare(log, inspecting), extra: [] };
  }
  if (!sidecar) return { inspection: await inspectLog(log, "sidecar", inspecting), extra: [] };
  const inspection = await inspectSidecar(log, sidecar, inspecting);
  const ofFiles = await fileFindings(log, inspection, options);
  return { inspection, extra: [...sidecarFindings(inspection), ...ofFiles] };
}

/** Findings about the files that belong to a signed log. */
export async function fileFindings(
  log: OpenFile,
  { judge, tailBytes }: Inspection,
  { filesProof }: VerifyOptions,
): Promise<readonly Finding[]> {
  return filesProof && judge.total > 0 ? filesProof.findings({ log, judge, tailBytes }) : [];
}

/** The size of a file; null if there is none. */
export function sizeIfThere(directory: Directory, name: string): number | null {
  const file = openIfThere(directory, name);
  const size = file?.size() ?? null;
  file?.close();
  return size;
}

export function inspectOptions(
  target: SignableLog,
  options: VerifyOptions,
  bytes: number,
): InspectOptions {
  const remembered = options.remembered ?? NOTHING_REMEMBERED;
  const isDeep = options.isDeep === true || bytes <= DEEP_BYTES;
  return {
    crypto: options.crypto,
    keys: options.keys,
    session: signedName(target),
    content: contentOf(target),
    path: `${target.root}/${target.logId}`,
    isDeep,
    isEverySignature: isDeep,
    isLegacyProfile: options.isLegacyProfile === true,
    pinnedSeqOf: (log) => (remembered.here ?? remembered.ofLog(log))?.seq ?? null,
    onProgress: options.onProgress,
    onBytes: onBytesOf(options),
    onLongLine: options.onLongLine,
    onCheckpoint: options.onCheckpoint,
  };
}

function onBytesOf(options: VerifyOptions): VerifyOptions["onBytes"] {
  const { onBytes, filesProof, erasures } = options;
  if (!filesProof && !erasures) return onBytes;
  return (bytes) => {
    onBytes?.(bytes);
    filesProof?.onBytes(bytes);
    erasures?.onBytes(bytes);
  };
}
