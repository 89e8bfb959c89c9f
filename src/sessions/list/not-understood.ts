/** Not understood: the warning for a log with lines of which none is a message. */

import type { Host } from "../../core/base/host.ts";
import { recogniseFile } from "../../dialects/files/foreign-log.ts";
import { isOthersLine, SUPPORTED } from "../../dialects/program-formats.ts";
import { isCheckpoint } from "../store/entry-mapping.ts";
import type { Session } from "../store/session.ts";

export interface NotUnderstood {
  readonly lines: number;
  /** Describes what kind of file this is, as in "this is …"; null if it is not recognised. */
  readonly format: string | null;
}

/** Null if there is a message, or no line. Reads up to the first line that is understood. */
export async function notUnderstood(host: Host, session: Session): Promise<NotUnderstood | null> {
  let lines = 0;
  const onBadLine = ({ reason }: { readonly reason: string }) => {
    if (reason !== "blank") lines++;
  };
  const {
    program,
    reading: { readsToo },
  } = session.dialect;
  for await (const { kind, native } of session.entries({ onBadLine })) {
    const isRead = program !== undefined || readsToo?.(native) || !isOthersLine(native);
    if (kind !== "other" && isRead) return null;
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
