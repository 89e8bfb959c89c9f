/** Piped text: reads a short text from stdin, such as a key. */

import { type Io, UsageError } from "../command/command.ts";

/** Reads stdin to its end; more than `bytesMax` bytes is a usage error. */
export async function readPiped(io: Io, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of io.input as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > bytesMax) throw new UsageError(`stdin holds more than ${bytesMax} bytes`);
  }
  return Buffer.concat(chunks).toString("utf8");
}
