/** Opens a log in a test, and closes it when the test is over. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Host } from "../../src/core/base/host.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { WriterOptions } from "../../src/core/log/log-options.ts";
import { LogWriter } from "../../src/core/log/writer.ts";
import { tempDirectory } from "./temp-directory.ts";

export async function openWriter(
  path: string,
  options: WriterOptions = {},
  host: Host = nodeHost,
): Promise<LogWriter> {
  const log = await LogWriter.open(host, path, options);
  onTestFinished(() => log.close().catch(() => {})); // A test that broke it has checked that itself.
  return log;
}

/** The path of a log that does not exist yet, in its own directory. */
export function newLogPath(directory = tempDirectory()): string {
  return join(directory, "log.jsonl");
}

/** The path of a log that holds `content`. */
export function logHolding(content: string | Uint8Array): string {
  const path = newLogPath();
  writeFileSync(path, content);
  return path;
}

export function contentOf(path: string): string {
  return readFileSync(path, "utf8");
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
