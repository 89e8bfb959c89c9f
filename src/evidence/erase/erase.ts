/**
 * Erase: replaces a session by the same session without what was found in it, signed again, and
 * keeps a disclosed copy of the old one as the proof that nothing else was changed.
 *
 *   link at the end of the old log · copy and new log next to it · intent · carry out
 *
 * Until the intent is durable the old session is whole; from then on the new one is, once the
 * erasure is carried out (carry-out.ts). Formats: docs/formats/erase.md.
 */

import { dirname, join } from "node:path";
import { openAgain, writeAll } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { readSmallFile } from "../../core/base/replace.ts";
import { holdLog } from "../../core/log/held-log.ts";
import { INTENT_ENDING, openLogPath, openToRead } from "../../core/log/log-path.ts";
import type { NewEntry } from "../../core/model/entry.ts";
import { ERASE_REPORT } from "../../core/model/erasure.ts";
import { packageVersion } from "../../core/package-file.ts";
import { dialectNamed } from "../../dialects/all.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { changedWhileRead } from "../../trust/judge/inspect.ts";
import type { Signer } from "../../trust/keys/keys.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { LF, toHex } from "../../trust/proof/bytes.ts";
import { isObject, parseLine } from "../../trust/proof/claims.ts";
import { hasSidecar } from "../../trust/proof/envelopes.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import type { SignerHead } from "../../trust/signer/signer-state.ts";
import type { Trust } from "../../trust/trusted-keys/trust.ts";
import { loadOwnFiles, logNameOf } from "../doctor/own-names.ts";
import type { WithheldPlace } from "../redact/copy-writer.ts";
import { allOf, type Finder } from "../redact/hits.ts";
import { type RedactionResult, type RedactOptions, redactLog } from "../redact/redact.ts";
import { MATCH, matching, TEXT_BYTES_MAX } from "../redact/text-matches.ts";
import { type CarryingOut, carryOut, judgeErased, removeStaged } from "./carry-out.ts";
import { cannotErase, eraseWithin } from "./erased-line.ts";
import { type ErasableLog, type Intent, keptCopyOf, stagedNames, writeIntent } from "./intent.ts";
import { type ErasedCounts, NewLog } from "./new-log.ts";

export interface Erasing extends CarryingOut {
  readonly finder: Finder;
  readonly reason: string;
  readonly signer: Signer;
  readonly nowMs: () => number;
  readonly newId: () => string;
  readonly salt: Uint8Array;
  readonly trust: () => Promise<Trust>;
  /** Ends the old log with a signed link to the new one, and releases it. */
  readonly link: (log: string) => Promise<void>;
  readonly onWarning: (warning: string) => void;
}

export interface ErasureResult {
  readonly redacted: RedactionResult;
  readonly counts: ErasedCounts;
}

/** Values that are also searched for by themselves. */
const VALUES_MAX = 10_000;

/**
 * What would be erased; changes nothing, and refuses what `erase` would refuse. Returns also what
 * to call `erase` with: what a rule found in one place goes everywhere.
 */
export async function tryErasing(
  given: Erasing,
  onPlace: (place: WithheldPlace) => void,
): Promise<ErasureResult & { readonly erasing: Erasing }> {
  await loadOwnFiles();
  const finder = await everywhere(given);
  const erasing = { ...given, finder };
  const path = join(given.target.root, given.target.logId);
  if (finder(Buffer.from(JSON.stringify(given.reason)), 0).length > 0) {
    throw cannotErase(path, "the reason repeats what is to be erased", "word it otherwise");
  }
  const redacted = await redact(erasing, { out: () => {}, onPlace });
  const nowhere = { write: (bytes: Uint8Array) => bytes.length } as OpenFile;
  const isSidecar = hasSidecar(given.target.dialect);
  const files = { log: nowhere, sidecar: isSidecar ? nowhere : null };
  const { newLog } = await writeNew(erasing, redacted, files);
  return { redacted, counts: newLog.counts, erasing };
}

export async function erase(erasing: Erasing): Promise<ErasureResult> {
  const { host, target, salt } = erasing;
  await loadOwnFiles();
  const log = toHex(nodeCrypto.sha256(salt)).slice(0, 32);
  await erasing.link(log);
  const held = await holdLog(host, target.logId, target.root);
  try {
    const { directory, name } = held.place;
    removeStaged(directory, name);
    const { intent, ...erased } = await stage(erasing, directory, name, log);
    await writeIntent(directory, name, intent);
    await carryOut(erasing, name, intent);
    return erased;
  } finally {
    held.close();
  }
}

/** Finds what the finder finds, and the same values wherever else they are. */
async function everywhere(erasing: Erasing): Promise<Finder> {
  const values = new Set<string>();
  const noting: Finder = (line, number) => {
    const hits = erasing.finder(line, number);
    for (const { rule, from, to } of hits) {
      if (rule === MATCH) continue; // Found everywhere as it is; a hit may be a longer string.
      if (to > line.length || values.size >= VALUES_MAX) continue; // The whole line.
      const spelled = Buffer.from(line.subarray(from, to)).toString();
      values.add(spelled);
      const text = parseLine(Buffer.from(`"${spelled}"`));
      if (typeof text === "string" && text !== "") values.add(text);
    }
    return hits;
  };
  const { finder } = await redact({ ...erasing, finder: noting }, { out: () => {} });
  const short = [...values].filter((value) => Buffer.byteLength(value) <= TEXT_BYTES_MAX);
  return values.size === 0 ? finder : allOf(erasing.finder, matching(short, "same"));
}

/** Writes everything that replaces the old session next to it. Durable when it resolves. */
async function stage(
  erasing: Erasing,
  directory: Directory,
  name: string,
  log: string,
): Promise<ErasureResult & { readonly intent: Intent }> {
  const { host, target, verify } = erasing;
  const { id, dialect, logId } = target;
  const staged = stagedNames(name);
  const redacted = await withNew(directory, staged.copy, (copy) => {
    return redact(erasing, { out: (bytes) => writeAll(copy, bytes) });
  });
  const { report } = redacted;
  // Another process may have appended between the link and the lock.
  const isEnded = report.tail.bytes === 0 && report.links.at(-1)?.log === log;
  if (!isEnded) throw changedWhileRead(report.path, 0);
  const { newLog, head } = await withNew(directory, staged.log, (file) => {
    if (!hasSidecar(dialect)) return writeNew(erasing, redacted, { log: file, sidecar: null });
    return withNew(directory, staged.sidecar, (sidecar) => {
      return writeNew(erasing, redacted, { log: file, sidecar });
    });
  });
  const small = await stageSmallFile(erasing, directory, staged.file, redacted, head);
  await directory.sync();
  const { remembered: _, filesProof: __, ...own } = await verify();
  const next = { ...target, logId: join(dirname(logId), staged.log) };
  const judged = await judgeErased(host, next, join(dirname(logId), staged.copy), own);
  const [bad] = judged.findings;
  if (bad)
    throw cannotErase(report.path, `the new log is not as it must be: ${bad.message}`, AGAIN);
  const moves: (readonly [string, string])[] = [
    ...(hasSidecar(dialect) ? [[staged.sidecar, sidecarOf(name)] as const] : []),
    [staged.log, name] as const,
    [staged.copy, keptCopyOf(name)] as const,
    ...(small === null ? [] : [[staged.file, small] as const]),
  ];
  const kept = new Set<string>([
    name,
    sidecarOf(name),
    `${name}.lock`,
    name + INTENT_ENDING,
    ...Object.values(staged),
    ...moves.map(([, to]) => to),
    ...newLog.spills,
  ]);
  const removes = directory.names().filter((each) => {
    return !kept.has(each) && logNameOf(dialect, each) === name;
  });
  const intent = { dialect, id, log, moves, removes };
  return { redacted, counts: newLog.counts, intent };
}

const AGAIN = "try again, and report this if it happens again";

/** A new file, synced. */
async function withNew<T>(
  directory: Directory,
  name: string,
  write: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const file = openAgain(directory, name);
  try {
    const written = await write(file);
    await file.sync();
    return written;
  } finally {
    file.close();
  }
}

async function redact(
  { host, target, verify, finder, reason, signer, nowMs }: Erasing,
  how: Pick<RedactOptions, "out" | "onPlace">,
): Promise<RedactionResult> {
  const options = { verify: await verify(), finder, reason, signer, nowMs, ...how };
  return redactLog(host, target, options);
}

async function writeNew(
  { host, target, signer, salt, nowMs, newId, reason }: Erasing,
  { report, finder, withheld }: RedactionResult,
  files: { readonly log: OpenFile; readonly sidecar: OpenFile | null },
): Promise<{ readonly newLog: NewLog; readonly head: SignerHead }> {
  const { root, logId, id } = target;
  const { path, signed_through: through, log } = report;
  if (!through || log === null) throw changedWhileRead(path, 0);
  const place = await openLogPath(host, logId, { create: false, root });
  try {
    const old = openToRead(place);
    try {
      const { dialect, agent } = await firstOf(old, target);
      const facts = {
        id,
        nowMs: nowMs(),
        agent,
        newId,
        cwd: root,
        version: packageVersion(),
        model: null,
      };
      const from = { log, seq: through.seq, line: through.line, at: through.end };
      const newLog = new NewLog({
        dialect,
        id,
        path,
        crypto: nodeCrypto,
        signer,
        salt,
        from,
        finder,
        facts,
        ...files,
        found: report.found,
        rev: through.rev,
      });
      const said = { type: ERASE_REPORT, session: id, reason, rules: withheld, from };
      const copy = keptCopyOf(place.name);
      const head = await newLog.copy(old, (counts) => reportOf({ ...said, copy, erased: counts }));
      return { newLog, head };
    } finally {
      old.close();
    }
  } finally {
    place.directory.close();
  }
}

/** An entry that no provider sees. */
function reportOf(native: object): NewEntry {
  return { kind: "message", role: "system", parts: [{ type: "other", native }] };
}

/** The dialect of a log's own lines, and its agent, by its first line. */
async function firstOf(
  old: OpenFile,
  { dialect: name, id }: ErasableLog,
): Promise<{ readonly dialect: Dialect; readonly agent: string | null }> {
  const dialect = dialectNamed(name);
  const head = Buffer.alloc(Math.min(old.size(), LOG_LIMITS.lineBytesMax));
  const bytes = head.subarray(0, await old.read(head, 0));
  const first = parseLine(bytes.subarray(0, Math.max(0, bytes.indexOf(LF))));
  const agent = isObject(first) ? dialect.reading.agentSaidIn?.(first) : null;
  return {
    dialect: dialect.adopt?.(first, {}) ?? dialect,
    agent: agent ?? dialect.naming.agentOf?.(id) ?? null,
  };
}

/** The session's small signed file for the new log; returns its name, null if there is none. */
async function stageSmallFile(
  { target, signer, nowMs, trust, onWarning }: Erasing,
  directory: Directory,
  stagedName: string,
  { report, finder }: RedactionResult,
  head: SignerHead,
): Promise<string | null> {
  const { dialect, id } = target;
  const { signedFile } = (await dialectNamed(dialect).files?.load?.()) ?? {};
  const text = signedFile ? await readSmallFile(directory, signedFile.name) : null;
  if (!signedFile || text === null) return null;
  const bytes = Buffer.from(text);
  const hits = finder(bytes, 0);
  const isJson = (changed: Uint8Array) => parseLine(changed) !== undefined;
  const erased = hits.length === 0 ? bytes : eraseWithin(bytes, hits, finder, isJson)?.line;
  if (!erased) return null; // It is deleted, and made from the log.
  const newest = { ...head, rev: report.signed_through?.rev ?? 0 };
  const tools = { signer, crypto: nodeCrypto, trust, nowMs, onWarning };
  // One that is not verified is never signed.
  const isTrusted = !report.findings.some(({ code }) => code.startsWith("META_"));
  const signing = isTrusted ? { ...tools, newest: () => newest, named: () => null } : null;
  const renewed = await signedFile.renew(Buffer.from(erased).toString(), id, signing);
  if (renewed === null) return null;
  await withNew(directory, stagedName, async (file) => writeAll(file, Buffer.from(renewed)));
  return signedFile.name;
}
