/** Sample: reads a real log of another program through its dialect, in a temporary root. */

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { Entry } from "../../src/core/model/entry.ts";
import type { Summary } from "../../src/core/model/summary.ts";
import { dialectNamed } from "../../src/dialects/all.ts";
import type { DialectName } from "../../src/dialects/registry.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { tempDirectory } from "../support/temp-directory.ts";

export interface ReadSession {
  readonly entries: readonly Entry[];
  readonly badLines: number;
  readonly summary: Summary;
}

/** Reads the logs at these paths below one root; the result is by id. */
export async function readSessions(
  dialect: DialectName,
  files: Readonly<Record<string, Uint8Array | string>>,
): Promise<Readonly<Record<string, ReadSession>>> {
  const root = tempDirectory();
  for (const [path, bytes] of Object.entries(files)) {
    put(join(root, path), bytes);
  }
  const store = new Store(nodeHost, { dialect, root });
  const read: Record<string, ReadSession> = {};
  for (const path of Object.keys(files)) {
    const id = dialectNamed(dialect).naming.idAt(path.split("/"));
    if (id === null) continue;
    const session = store.session(id);
    const entries: Entry[] = [];
    let badLines = 0;
    const onBadLine = () => {
      badLines++;
    };
    for await (const entry of session.entries({ onBadLine })) entries.push(entry);
    await session.release();
    read[id] = { entries, badLines, summary: await store.summaries().summarise(id) };
  }
  await store.close();
  return read;
}

/** Writes a file, and its directories. */
export function put(path: string, bytes: Uint8Array | string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

/** The only session of a log. */
export async function readSession(
  dialect: DialectName,
  path: string,
  bytes: Uint8Array | string,
): Promise<ReadSession> {
  const [session] = Object.values(await readSessions(dialect, { [path]: bytes }));
  if (session === undefined) throw new Error(`${path} is no session of ${dialect}`);
  return session;
}

/** Files with this ending in a folder, and below it. */
export function filesIn(folder: string, ending = ".jsonl"): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending) && statSync(join(folder, name)).isFile())
    .map((name) => join(folder, name))
    .sort();
}

/** The parsed lines of a file, without any dialect: for counts that must agree. */
// biome-ignore lint/suspicious/noExplicitAny: real files of other programs.
export function parsedLines(path: string): any[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}

export interface Counts {
  readonly prompts: number;
  readonly answers: number;
  readonly calls: number;
  readonly results: number;
}

/** Counts by the reader: what people said, what models said, tool calls and results. */
export function countsOf({ entries }: ReadSession): Counts {
  const parts = entries.flatMap((entry) => entry.parts);
  const ofRole = (role: string) =>
    entries.filter((entry) => entry.kind === "message" && entry.role === role && !entry.saidBy);
  return {
    prompts: ofRole("user").length,
    answers: ofRole("assistant").length,
    calls: parts.filter(({ type }) => type === "tool_call").length,
    results: parts.filter(({ type }) => type === "tool_result").length,
  };
}
