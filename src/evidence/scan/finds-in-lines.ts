/**
 * Finds in lines: what all rules find in a session, by the line that has it, so that a page which
 * shows these lines can mark it. Values are of lines that the reader may read; reports and caches
 * never have them (SCN1).
 */

import type { SessionFinds } from "../../client/find-shapes.ts";
import type { Host } from "../../core/base/host.ts";
import type { LogWindow } from "../../core/log/window.ts";
import { SessionWindow } from "../../sessions/list/session-window.ts";
import type { Session } from "../../sessions/store/session.ts";
import { allRules, SecretFinder } from "./find-secrets.ts";
import { scanSession } from "./scan-session.ts";
import { unescapeOnce } from "./unescape.ts";

/** More of a value is not needed to mark it. */
const TEXT_CHARS_MAX = 200;
/** Each character is one of at most 12 bytes, or an escape of as many. */
const TEXT_BYTES_MAX = 12 * TEXT_CHARS_MAX;

export async function findsInLines(
  host: Host,
  session: Session,
  findsMax: number,
  signal: AbortSignal,
): Promise<SessionFinds> {
  const window = await SessionWindow.open(host, session);
  try {
    const how = { finder: new SecretFinder(await allRules()), own: null, signal };
    const { finds, unscanned } = await scanSession(host, session, window, how);
    const places = finds
      .filter((find) => find.in !== "checkpoint") // Of another file, or of no row.
      .flatMap(({ rule, file, places }) => places.map((place) => ({ rule, file, ...place })));
    const texts = [];
    for (const { rule, file, line, value } of places.slice(0, findsMax)) {
      const text = file === null ? await textAt(window.log, value) : null;
      texts.push({ start: line.start, rule, text });
    }
    return { finds: texts, unscanned: unscanned.length, isCut: places.length > findsMax };
  } finally {
    window.close();
  }
}

async function textAt(
  log: LogWindow,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<string> {
  const bytes = await log.bytes(start, Math.min(end, start + TEXT_BYTES_MAX));
  return unescapeOnce(bytes.toString(), false).text.slice(0, TEXT_CHARS_MAX);
}
