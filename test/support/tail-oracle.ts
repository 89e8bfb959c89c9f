/**
 * An oracle for where a log ends, to compare the implementation with. Written from design.md, over
 * the whole file in memory, as simply as possible.
 */

export interface ExpectedEnd {
  /** What the file must contain after it was opened to append. */
  readonly repaired: Buffer;
  /** The torn bytes that must have been copied to another file. */
  readonly cut: Buffer;
  readonly addedLf: boolean;
  /** How much of the file a reader, which repairs nothing, accepts. */
  readonly readableEnd: number;
}

export function expectedEnd(log: Buffer): ExpectedEnd {
  const lines = splitAfterLf(log);
  const last = lines.at(-1);
  const unfinished = last !== undefined && last.at(-1) !== 0x0a ? lines.pop() : undefined;
  while (lines.at(-1)?.includes(0)) lines.pop();
  const readableEnd = Buffer.concat(lines).length;

  if (unfinished && isObjectOrArray(unfinished)) {
    const repaired = Buffer.concat([log, Buffer.from("\n")]);
    return { repaired, cut: Buffer.alloc(0), addedLf: true, readableEnd };
  }
  const cut = log.subarray(readableEnd);
  return { repaired: log.subarray(0, readableEnd), cut, addedLf: false, readableEnd };
}

/** The lines of a log, each with its LF; the last one may have none. */
export function splitAfterLf(log: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  for (let at = log.indexOf(0x0a); at !== -1; at = log.indexOf(0x0a, from)) {
    lines.push(log.subarray(from, at + 1));
    from = at + 1;
  }
  if (from < log.length) lines.push(log.subarray(from));
  return lines;
}

function isObjectOrArray(bytes: Buffer): boolean {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}
