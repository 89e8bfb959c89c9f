/** A store of Entire sessions on a disk that the test watches, and one session in it. */

import { onTestFinished } from "vitest";
import type { Session } from "../../src/sessions/store/session.ts";
import { Store, type StoreOptions } from "../../src/sessions/store/store.ts";
import { rowsAt } from "./entire-rows.ts";
import { tempDirectory } from "./temp-directory.ts";
import { WatchedFiles } from "./watched-files.ts";

export const LOG = "full.jsonl";
export const ID = "the-session";
export const MIB = 1024 * 1024;

export function opened(options: Partial<StoreOptions> = {}) {
  const disk = new WatchedFiles();
  const root = options.root ?? tempDirectory();
  const warnings: string[] = [];
  const store = new Store(disk.host, {
    dialect: "entire",
    root,
    ...((options.dialect ?? "entire") === "entire" ? { model: "m" } : {}),
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  onTestFinished(() => store.close().catch(() => {})); // A test that broke it has checked that itself.
  const session = store.session(ID);
  const rows = () => rowsAt(session.path);
  return { disk, root, store, session, rows, warnings };
}

export function says(session: Session, text: string): Promise<number> {
  return session.appendNative({ type: "user", message: { content: text } });
}
