/**
 * Intent: the file that makes an erasure happen, whatever interrupts it. Format:
 * docs/formats/erase.md.
 *
 * It names files only, in the log's directory, and only those that belong to the log: a planted one
 * can neither reach another file nor change a pinned head (carry-out.ts).
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { Directory } from "../../core/base/files.ts";
import { readSmallFile, replaceFileDurably } from "../../core/base/replace.ts";
import { INTENT_ENDING } from "../../core/log/log-path.ts";
import { isObject } from "../../trust/proof/claims.ts";
import { COPY_EXTENSION } from "../../trust/proof/disclosure/copy-file.ts";
import { type SessionLog, sidecarOf } from "../../trust/session-log.ts";
import { loadOwnFiles, logNameOf } from "../doctor/own-names.ts";

export type ErasableLog = SessionLog & { readonly id: string };

export interface Intent {
  readonly dialect: string;
  readonly id: string;
  /** The new log. */
  readonly log: string;
  /** Files that get another name, in this order. */
  readonly moves: readonly (readonly [from: string, to: string])[];
  /** Files that are deleted. */
  readonly removes: readonly string[];
}

/** Names of the new files until they replace the old ones. */
export function stagedNames(logName: string) {
  const log = `${logName}${INTENT_ENDING}-log`;
  const [copy, file] = [`${logName}${INTENT_ENDING}-copy`, `${logName}${INTENT_ENDING}-file`];
  return { log, sidecar: sidecarOf(log), copy, file };
}

/** The disclosed copy of what a log was before its last erasure. */
export function keptCopyOf(logName: string): string {
  return logName + COPY_EXTENSION;
}

/** Durable when it resolves: from now on the erasure is carried out. */
export async function writeIntent(
  directory: Directory,
  logName: string,
  { dialect, id, log, moves, removes }: Intent,
): Promise<void> {
  const text = JSON.stringify({ verbatim: "erase", v: 1, dialect, id, log, moves, removes });
  await replaceFileDurably(directory, logName + INTENT_ENDING, `${text}\n`);
}

/** Null if there is none; refuses one that is not of this log, or names other files. */
export async function readIntent(
  directory: Directory,
  logName: string,
  { dialect, id }: ErasableLog,
): Promise<Intent | null> {
  const name = logName + INTENT_ENDING;
  const text = await readSmallFile(directory, name);
  if (text === null) return null;
  await loadOwnFiles();
  const intent = parsed(text);
  const isOfThis = intent?.dialect === dialect && intent.id === id;
  if (intent && isOfThis && isWithin(intent, logName)) return intent;
  const path = `${directory.path}/${name}`;
  const reason = "it is not what `redact --in-place` writes for this session";
  const message = `${path} is refused: ${reason}; if you did not erase anything, remove it`;
  throw new VerbatimError("CANNOT_ERASE", message, { path, reason });
}

function parsed(text: string): Intent | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value) || value.verbatim !== "erase" || value.v !== 1) return null;
  const { dialect, id, log, moves, removes } = value;
  const isText = [dialect, id, log].every((each) => typeof each === "string");
  const isPair = (each: unknown) => isTexts(each) && each.length === 2;
  if (!isText || !Array.isArray(moves) || !moves.every(isPair) || !isTexts(removes)) return null;
  return value as unknown as Intent;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** Whether it names only files of this log. */
function isWithin({ dialect, moves, removes }: Intent, logName: string): boolean {
  const staged: string[] = Object.values(stagedNames(logName));
  const isOwn = (name: string) => !name.includes("/") && logNameOf(dialect, name) === logName;
  return (
    moves.every(([from, to]) => staged.includes(from) && isOwn(to)) &&
    removes.every((name) => isOwn(name) && name !== logName && name !== sidecarOf(logName))
  );
}
