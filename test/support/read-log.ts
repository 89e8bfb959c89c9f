/** Reading a log in a test: everything a pass gave. */

import type { LogLine } from "../../src/log/reader.ts";

export async function collect(lines: AsyncIterable<LogLine>): Promise<LogLine[]> {
  const collected: LogLine[] = [];
  for await (const line of lines) collected.push(line);
  return collected;
}

export async function valuesOf(lines: AsyncIterable<LogLine>): Promise<unknown[]> {
  return (await collect(lines)).map(({ value }) => value);
}
