/** Not understood: a log with lines of which none is a message, in a sentence for people. */

import type { Host } from "../base/host.ts";
import { isOthersLine, SUPPORTED } from "../dialects/recognise.ts";
import { recogniseFile } from "../store/foreign-log.ts";
import { isCheckpoint } from "../store/mapping.ts";
import type { Session } from "../store/session.ts";

export interface NotUnderstood {
  readonly lines: number;
  /** What the file is, as in "this is …"; null when its format is not recognised. */
  readonly format: string | null;
}

/** Null when there is a message, or no line. Reads as far as the first line that is understood. */
export async function notUnderstood(host: Host, session: Session): Promise<NotUnderstood | null> {
  let lines = 0;
  const onBadLine = ({ reason }: { readonly reason: string }) => {
    if (reason !== "blank") lines++;
  };
  for await (const { kind, native } of session.entries({ onBadLine })) {
    if (kind !== "other" && !isOthersLine(native)) return null;
    if (!isCheckpoint(native)) lines++;
  }
  if (lines === 0) return null;
  return { lines, format: await recogniseFile(host, { logId: session.path, root: undefined }) };
}

export function notUnderstoodText({ lines, format }: NotUnderstood): string {
  const read = lines === 1 ? "1 line was" : `${lines} lines were`;
  const what = format === null ? "" : `: this is ${format}`;
  return `${read} read and no message was understood${what}. ${SUPPORTED}`;
}
