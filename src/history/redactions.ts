/** Redactions: copies of a session that show part of it, and what is withheld in them. */

import { resolve } from "node:path";
import { badOption } from "../core/base/choice.ts";
import { VerbatimError } from "../core/base/errors.ts";
import type { Host } from "../core/base/host.ts";
import { userPaths } from "../core/base/node-paths.ts";
import { hostOf } from "../dialects/all.ts";
import type { WithheldPlace } from "../evidence/redact/copy-writer.ts";
import { allOf, type Finder } from "../evidence/redact/hits.ts";
import { NewCopy } from "../evidence/redact/new-copy.ts";
import { copyPlainly } from "../evidence/redact/plain-copy.ts";
import { redactLog } from "../evidence/redact/redact.ts";
import { findsOfRules } from "../evidence/redact/scan-finds.ts";
import { entriesNumbered, MATCH, Matches, matching } from "../evidence/redact/text-matches.ts";
import { isLogPlace } from "../sessions/list/log-places.ts";
import { loadSigner } from "../trust/keys/keys.ts";
import { COPY_EXTENSION } from "../trust/proof/disclosure/copy-file.ts";
import { REASON_CHARS_MAX } from "../trust/proof/disclosure/statement.ts";
import type { Verdict } from "../trust/proof/verdict.ts";
import type { RedactOptions, Withheld } from "./options.ts";
import type { Places, SignedLog } from "./places.ts";

/** A copy that shows part of a session. */
export interface Redaction {
  /** The file that was written; null: only tried. */
  readonly path: string | null;
  /** Lines of the session, and those that the copy shows in full. */
  readonly lines: number;
  readonly full: number;
  /** Of the session; null for a plain copy. */
  readonly verdict: Verdict | null;
  /** What is withheld, line by line. */
  readonly places: readonly WithheldPlace[];
  /** Texts that were not found, by their numbers from 1. */
  readonly missing: readonly number[];
  /** Texts that something resembles, which stays; and the lines with it. */
  readonly nearMisses: readonly { readonly number: number; readonly lines: readonly number[] }[];
}

export async function redactSession(
  places: Places,
  name: string,
  options: RedactOptions,
): Promise<Redaction> {
  const { output, plain = false, texts = [] } = options;
  if (options.reason.length > REASON_CHARS_MAX) {
    throw badOption("reason", `has at most ${REASON_CHARS_MAX} characters`);
  }
  const matches = new Matches(texts);
  const finder = await finderOf(options, matches);
  const path = output === undefined ? null : await checkOutput(output, plain);
  const signed = await places.findSigned(name);
  options.signal?.throwIfAborted();
  const file = path === null ? null : await NewCopy.create(places.host, path, alreadyThere);
  try {
    const copy = await writeCopy(places.host, signed, finder, options, file);
    const { missing, nearMisses } = matches;
    const redaction = { path, ...copy, missing, nearMisses };
    if (missing.length > 0 && options.allowMissing !== true) {
      throw refusedFor(signed, `text number ${missing[0]} was not found`, "check its spelling");
    }
    options.signal?.throwIfAborted();
    await file?.keep();
    return redaction;
  } finally {
    file?.discard();
  }
}

async function writeCopy(
  host: Host,
  { log, judging }: SignedLog,
  finder: Finder,
  { reason, masks: hasMasks = false, plain, signal }: RedactOptions,
  file: NewCopy | null,
): Promise<Pick<Redaction, "places" | "lines" | "full" | "verdict">> {
  const places: WithheldPlace[] = [];
  const parts = {
    finder,
    reason,
    onPlace: (place: WithheldPlace) => void places.push(place),
    out: (bytes: Uint8Array) => {
      signal?.throwIfAborted();
      file?.write(bytes);
    },
  };
  const disk = hostOf(host, log);
  if (plain) return { places, verdict: null, ...(await copyPlainly(disk, log, parts)) };
  const { lines, full, report } = await redactLog(disk, log, {
    ...parts,
    verify: await judging.optionsFor(log),
    hasMasks,
    signer: await loadSigner(host, userPaths()),
    nowMs: Date.now,
  });
  return { places, lines, full, verdict: report.verdict };
}

/** Refuses with BAD_SETTING a call that withholds nothing. */
async function finderOf(
  { texts = [], entries = [], rules = [] }: Withheld,
  matches: Matches,
): Promise<Finder> {
  const finders: Finder[] = [];
  if (texts.length > 0) finders.push(matching(texts, MATCH, matches));
  if (entries.length > 0) finders.push(entriesNumbered(new Set(entries)));
  if (rules.length > 0) finders.push(await findsOfRules(rules));
  if (finders.length > 0) return allOf(...finders);
  throw badOption("texts", "of redact is missing: say what to withhold, or entries, or rules");
}

async function checkOutput(output: string, isPlain: boolean): Promise<string> {
  const path = resolve(output);
  if (output.endsWith(COPY_EXTENSION) === isPlain) {
    const reason = isPlain ? "must not end in .vbd: the copy proves nothing" : "must end in .vbd";
    throw badOption("output", reason);
  }
  if (await isLogPlace(path)) throw badOption("output", "belongs to a log, or is next to one");
  return path;
}

function alreadyThere(path: string): VerbatimError<"IO_ERROR"> {
  const details = { path, operation: "writing", errno: "EEXIST" };
  return new VerbatimError("IO_ERROR", `${path} exists already; choose another name`, details);
}

function refusedFor(
  { log: { root, logId } }: SignedLog,
  reason: string,
  next: string,
): VerbatimError {
  const path = `${root}/${logId}`;
  const message = `${path} is not disclosed: ${reason}; ${next}`;
  return new VerbatimError("CANNOT_DISCLOSE", message, { path, reason });
}
