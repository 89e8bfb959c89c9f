/**
 * Due trash: removes from the trash of every store what was there for long enough, and finishes what
 * was interrupted, when a guard or a server starts. Without a trash it loads nothing more.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { nodeHost } from "../../core/base/node-host.ts";
import { findStores } from "../../sessions/list/find-stores.ts";
import type { Io } from "../command/command.ts";

export async function emptyDueTrash(io: Io): Promise<void> {
  const roots = (await findStores({ cwd: process.cwd() })).map(({ root }) => root);
  const having = roots.filter((root) => existsSync(join(root, ".verbatim/trash")));
  if (having.length === 0) return;
  const { settleTrashes } = await import("../../evidence/removal/session-removal.ts");
  const { removingAt } = await import("../../guard/removal.ts");
  const onWarning = (warning: string) => io.err(`warning: ${warning}`);
  const removing = (root: string) => removingAt(nodeHost, root, onWarning);
  await settleTrashes(removing, having, Date.now(), onWarning);
}
