/** A directory of OpenCode, and what we find and read in it. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { Entry } from "../../src/core/model/entry.ts";
import { opencode } from "../../src/dialects/agents/opencode/dialect.ts";
import { findLogs, type Unreadable } from "../../src/dialects/find.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { tempDirectory } from "../support/temp-directory.ts";

export function place(): { root: string; path: string } {
  const root = join(tempDirectory(), "opencode");
  mkdirSync(root);
  return { root, path: join(root, "opencode.db") };
}

export async function entriesOf(root: string, id: string): Promise<Entry[]> {
  const session = await new Store(nodeHost, { dialect: "opencode", root }).open(id);
  const entries: Entry[] = [];
  for await (const entry of session.entries()) entries.push(entry);
  return entries;
}

export function foundLogs(root: string) {
  const unreadable: Unreadable[] = [];
  const logs = findLogs(root, opencode.naming.layout, {
    onUnreadable: (each) => unreadable.push(each),
  });
  return { logs, problems: unreadable.map(({ cause }) => cause.message) };
}
