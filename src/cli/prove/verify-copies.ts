/**
 * Verify copies: the reports on disclosed copies and on proofs, how `verify` prints them, and a copy as
 * a session that is shown and exported like any other.
 */

import { closeSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { beginsAsPage } from "../../evidence/prove/proof-page.ts";
import { type ProofReport, verifyProof } from "../../evidence/prove/verify-proof.ts";
import {
  type DisclosedCopyReport,
  verifyCopy,
  writeShownLines,
} from "../../evidence/redact/verify-copy.ts";
import { UserJudging } from "../../evidence/verify/user-judging.ts";
import { statOf } from "../../sessions/list/find-stores.ts";
import type { FoundSession } from "../../sessions/list/session-place.ts";
import {
  beginsAsCopy,
  COPY_EXTENSION,
  disclosedCopy,
  MAGIC_BYTES,
} from "../../trust/proof/disclosure/copy-file.ts";
import { STREAMS } from "../../trust/proof/envelopes.ts";
import { beginsAsProof, PROOF_EXTENSION } from "../../trust/proof/inclusion/records.ts";
import { type Run, textOption, UsageError } from "../command/command.ts";
import { countText } from "../serve/findings-report.ts";
import { freshnessText, keyText, reasonLine } from "./verify-text.ts";
import type { WitnessJudge } from "./verify-witnessed.ts";

/** Whether a file is, or should be, a disclosed copy. */
export function isCopy(path: string): boolean {
  return beginsAs(path, beginsAsCopy, COPY_EXTENSION);
}

/** Whether a file has this extension, or these first bytes. */
export function beginsAs(
  path: string,
  begins: (bytes: Uint8Array) => boolean,
  extension: string,
): boolean {
  if (!statOf(path)?.isFile()) return false;
  if (path.endsWith(extension)) return true;
  const bytes = new Uint8Array(MAGIC_BYTES);
  try {
    const file = openSync(path, "r");
    try {
      readSync(file, bytes);
    } finally {
      closeSync(file);
    }
  } catch {
    return false; // The verdict on a session says why it cannot be read.
  }
  return begins(bytes);
}

export async function* verifyCopies(
  paths: readonly string[],
  judging: UserJudging,
  { options, io }: Run,
  witnesses: WitnessJudge,
): AsyncGenerator<{ readonly report: DisclosedCopyReport; readonly lines: readonly string[] }> {
  if (paths.length === 0) return;
  const key = await readKeyOption(options);
  const requirePin = options.requirePin === true;
  for (const path of paths) {
    const onProgress = (bytes: number, of: number) => {
      if (of > 0) io.progress(`${path}: ${Math.floor((100 * bytes) / of)} %`);
    };
    const alone = await verifyCopy(nodeHost, path, { judging, key, requirePin, onProgress });
    io.progress(null);
    const report = await witnesses.extendCopy(alone, key);
    yield { report, lines: describeCopy(report) };
  }
}

/** The key in the file that `--key` names. */
export async function readKeyOption(options: Run["options"]): Promise<Uint8Array | null> {
  const keyName = textOption("--key", options.key);
  const { readPublicKeyFile } = await import("../../trust/keys/key-files.ts");
  return keyName === undefined ? null : readPublicKeyFile(keyName);
}

/** One line with the verdict, then what it is based on. */
function describeCopy(report: DisclosedCopyReport): string[] {
  const { path, verdict, findings } = report;
  const reasons = findings.filter((each) => each.verdict === verdict || !each.verdict);
  return [
    `${path}: ${verdict}${verdict === "verified" ? ` in part: ${amountOf(report)}` : ""}`,
    ...(verdict === "tampered" || verdict === "unreadable" ? [] : copyFacts(report)),
    ...reasons.map(reasonLine),
  ];
}

function amountOf({ lines, strings_withheld: strings, freshness }: DisclosedCopyReport): string {
  const amount = `${lines.full} of ${lines.total} lines in full, ${countText(strings, "string")} withheld`;
  const isWhole = lines.full === lines.total && strings === 0;
  // If it is behind, that is said with the other facts.
  return freshness === "behind" ? amount : `${amount}${freshnessText(freshness, isWhole)}`;
}

function copyFacts(report: DisclosedCopyReport): string[] {
  const { session, redactor, keys, withheld, left_out: left, genesis } = report;
  const signers = keys.map(keyText).join(", ");
  return [
    `  of ${session ?? "an unknown session"}, signed by ${signers}`,
    ...laterSeen(report),
    ...(redactor ? [`  disclosed by ${keyText(redactor)} on ${redactor.ts}`] : []),
    ...withheld.map(({ rule, reason, lines, strings }) => {
      const amount = `${countText(lines, "line")}, ${countText(strings, "string")}`;
      return `  withheld by rule ${rule}: ${amount}; reason: ${reason}`;
    }),
    ...(left && left.bytes > 0
      ? [`  left out: ${countText(left.lines, "unsigned line")} at the end`]
      : []),
    ...(genesis === "stated" ? ["  how the log began is stated by the redactor"] : []),
    `  cannot be checked: ${report.not_checked.join("; ")}`,
  ];
}

/** Of a copy or a proof that ends before the pinned head. */
export function laterSeen({
  freshness,
  signed_through: through,
}: Pick<DisclosedCopyReport, "freshness" | "signed_through">): string[] {
  if (freshness !== "behind" || !through) return [];
  return [`  up to checkpoint ${through.seq}; later ones were seen here`];
}

/** Its content is not what was signed. */
const REFUSED: readonly string[] = ["tampered", "unreadable", "rollback"];

/** Prints what the copy proves, and returns its lines as a log that is removed with the process. */
export async function openCopy(path: string, { options, io }: Run): Promise<FoundSession> {
  if (options.follow === true)
    throw new UsageError(`${path} is a disclosed copy: it does not grow`);
  const folder = mkdtempSync(join(tmpdir(), "verbatim-show-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const log = join(folder, `${basename(path)}.jsonl`);
  const onWarning = (warning: string) => io.err(`warning: ${warning}`);
  const judging = await UserJudging.load(nodeHost, { onWarning });
  const report = await writeShownLines(nodeHost, path, log, judging);
  for (const line of describeCopy(report)) io.err(line);
  const { verdict, dialect } = report;
  if (REFUSED.includes(verdict)) {
    const message = `${path} is ${verdict}, so nothing of it is shown`;
    throw new VerbatimError("NOT_VERIFIED", message, { path, verdict });
  }
  if (verdict === "unsigned") {
    const message = `${path} is a masked copy, which the viewer shows: drop it on its list`;
    throw new VerbatimError("NOT_VERIFIED", message, { path, verdict });
  }
  if (dialect === null || dialect === STREAMS) throw disclosedCopy(path);
  return { dialect, root: folder, id: null, path: log };
}

/** More of a line is not printed; `--json` has all of it. */
const TEXT_CHARS_MAX = 300;

/** Whether a file is, or should be, a proof. */
export function isProof(path: string): boolean {
  const begins = (bytes: Uint8Array) => beginsAsProof(bytes) || beginsAsPage(bytes);
  return beginsAs(path, begins, PROOF_EXTENSION);
}

export async function* verifyProofs(
  paths: readonly string[],
  judging: UserJudging,
  { options }: Run,
): AsyncGenerator<{ readonly report: ProofReport; readonly lines: readonly string[] }> {
  if (paths.length === 0) return;
  const key = await readKeyOption(options);
  const requirePin = options.requirePin === true;
  for (const path of paths) {
    const report = await verifyProof(nodeHost, path, { judging, key, requirePin });
    yield { report, lines: describeProof(report) };
  }
}

/** One line with the verdict, then what is proven, and by what. */
function describeProof(report: ProofReport): string[] {
  const { path, verdict, lines, findings } = report;
  const reasons = findings.filter((each) => each.verdict === verdict || !each.verdict);
  const lineText =
    lines.length > 0 ? countText(lines.length, "line") : "one checkpoint continues another";
  const amount = `: ${lineText}; it says nothing about other lines`;
  return [
    `${path}: ${verdict}${verdict === "verified" ? amount : ""}`,
    ...(verdict === "tampered" || verdict === "unreadable" ? [] : proofFacts(report)),
    ...reasons.map(reasonLine),
  ];
}

function proofFacts(report: ProofReport): string[] {
  const { session, keys, lines, consistent, genesis, prover } = report;
  return [
    `  of ${session ?? "an unknown session"}, signed by ${keys.map(keyText).join(", ")}`,
    ...lines.map(({ line, entry, turn, seq, ts, text, strings_withheld: withheld }) => {
      const said = entry === null ? "context" : `entry ${entry}`;
      const place = `line ${line} (${said})${turn === null ? "" : `, turn ${turn}`}`;
      const gaps = withheld > 0 ? `, ${countText(withheld, "string")} withheld` : "";
      const cut = text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text;
      return `  ${place}, in checkpoint ${seq} of ${ts}${gaps}: ${cut}`;
    }),
    ...consistent.map(([from, to]) => `  checkpoint ${to} continues the log of checkpoint ${from}`),
    ...laterSeen(report),
    ...(genesis === "stated" && prover
      ? [`  how the log began is stated by ${keyText(prover)}`]
      : []),
    `  cannot be checked: ${report.not_checked.join("; ")}`,
  ];
}
