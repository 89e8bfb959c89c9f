/** Reads a log in a test: everything that one pass returned. */

import type { LogLine } from "../../src/core/log/reader.ts";

export async function collect(lines: AsyncIterable<LogLine>): Promise<LogLine[]> {
  const collected: LogLine[] = [];
  for await (const line of lines) collected.push(line);
  return collected;
}

export async function valuesOf(lines: AsyncIterable<LogLine>): Promise<unknown[]> {
  return (await collect(lines)).map(({ value }) => value);
}
