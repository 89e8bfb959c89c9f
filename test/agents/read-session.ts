/** Reads another program's session through its dialect, for comparison with its raw rows. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { StoredEntry } from "../../src/dialects/files/stored-entries.ts";
import { Store } from "../../src/sessions/store/store.ts";

export interface ReadSession {
  readonly entries: readonly StoredEntry[];
  readonly badLines: number;
}

export interface Counts {
  /** Messages of a person. */
  readonly prompts: number;
  /** Messages of the model with text. */
  readonly answers: number;
  readonly calls: number;
  readonly results: number;
}

export async function readSession(dialect: string, root: string, id: string): Promise<ReadSession> {
  const session = storeAt(dialect, root).session(id);
  const entries: StoredEntry[] = [];
  let badLines = 0;
  for await (const entry of session.entries({ onBadLine: () => badLines++ })) entries.push(entry);
  await session.release();
  return { entries, badLines };
}

/** The catalog is in the root, so that no test touches the user's own. */
export function storeAt(dialect: string, root: string): Store {
  return new Store(nodeHost, { dialect, root, catalogPath: join(root, "catalog.db") });
}

export function countsOf({ entries }: ReadSession): Counts {
  const said = entries.filter(({ kind }) => kind === "message");
  const parts = said.flatMap((entry) => entry.parts);
  const isText = ({ type }: { readonly type: string }) => type === "text";
  return {
    prompts: said.filter(({ role, saidBy }) => role === "user" && !saidBy).length,
    answers: said.filter((entry) => entry.role === "assistant" && entry.parts.some(isText)).length,
    calls: parts.filter(({ type }) => type === "tool_call").length,
    results: parts.filter(({ type }) => type === "tool_result").length,
  };
}

/** Writes a file below a root, with its directories. */
export function put(root: string, path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** The lines of a text, parsed. */
export function rowsIn<Row = Record<string, unknown>>(text: string): Row[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);
}
