/**
 * Rye registry: checks that `registry.db` lists a project's threads as in their thread.json, and
 * rebuilds it.
 *
 * The registry is updated a moment after the threads (`Registrar`). So a difference counts only
 * if it is seen twice, with time in between for a pending update.
 */

import { join } from "node:path";
import type { Directory } from "../../../core/base/files.ts";
import type { SurroundingFile } from "../../../core/base/node-surroundings.ts";
import { type Finding, fileFindings, finding } from "../../../core/findings/finding.ts";
import type { Examining } from "../../facets/files.ts";
import { asideText } from "../../facets/files.ts";
import { moveAside, openAside } from "../../files/aside.ts";
import { REGISTRY_NAME, THREADS_PATH } from "../thread-id.ts";
import { isThreadMeta } from "../thread-meta.ts";
import { type RegisteredThread, Registry, threadColumns } from "./registry.ts";
import { findThreadMetas } from "./threads.ts";

interface Project {
  readonly root: string;
}

/** Several times the registrar's batching delay. */
const SETTLES_MS = 1000;
/** The database, and SQLite's files next to it. */
const FILES = ["", "-wal", "-shm"].map((ending) => REGISTRY_NAME + ending);

export async function* lookAtRegistry(doctor: Examining, store: Project): AsyncGenerator<Finding> {
  const directory = threadsPath(store);
  const files = FILES.map((name) => doctor.surroundings.look(join(directory, name)));
  const present: SurroundingFile[] = files.filter((each) => each !== null);
  if (present.some(({ kind }) => kind !== "file")) {
    yield* fileFindings(directory, null, present);
    return;
  }
  let found = await judge(store);
  if (found && found.code !== "DERIVED_FOREIGN") {
    await doctor.host.clock.sleep(SETTLES_MS);
    found = await judge(store);
  }
  // Permissions of another program's file are that program's business.
  if (found?.code !== "DERIVED_FOREIGN") yield* fileFindings(directory, null, present);
  if (found) yield found;
}

export async function mendRegistry(doctor: Examining, store: Project): Promise<string> {
  const path = threadsPath(store);
  const { files } = doctor.host;
  const directory = await files.openDirectory(path, { create: false, root: store.root });
  try {
    const { state } = await Registry.look(join(path, REGISTRY_NAME));
    const moved = state === "damaged" ? await moveAllAside(doctor, directory) : null;
    const registry = await Registry.open(join(path, REGISTRY_NAME));
    if (!registry) throw Object.assign(new Error("it cannot be opened"), { code: "EIO" });
    try {
      const kept = moved ?? (state === "ours" ? await copyOf(registry, directory) : null);
      const threads = await threadsOf(store);
      registry.replaceAll(threads.values());
      const threadsTold = threads.size === 1 ? "1 thread" : `${threads.size} threads`;
      return `listed ${threadsTold} in ${REGISTRY_NAME}${asideText(kept)}`;
    } finally {
      registry.close();
    }
  } finally {
    directory.close();
  }
}

/** A registry that is missing, or another program's, stays as it is. */
export async function forgetThread(store: Project, id: string): Promise<void> {
  const path = join(threadsPath(store), REGISTRY_NAME);
  const { state } = await Registry.look(path);
  const registry = state === "ours" ? await Registry.open(path) : null;
  registry?.remove(id);
  registry?.close();
}

async function moveAllAside({ surroundings }: Examining, directory: Directory): Promise<string> {
  const names: string[] = [];
  for (const name of FILES) {
    if (surroundings.look(join(directory.path, name))) names.push(await moveAside(directory, name));
  }
  return names.join(", ");
}

/** Copied by SQLite itself: copying the file's bytes could catch half of a transaction. */
async function copyOf(registry: Registry, directory: Directory): Promise<string> {
  const { asideName, file } = openAside(directory, REGISTRY_NAME);
  try {
    registry.copyTo(join(directory.path, asideName));
    await file.sync();
  } finally {
    file.close();
  }
  await directory.sync();
  return asideName;
}

/** The registry's fault; null if there is none, or nothing to list. */
async function judge(store: Project): Promise<Finding | null> {
  const threads = await threadsOf(store);
  const at = { session: null, path: join(threadsPath(store), REGISTRY_NAME) };
  const look = await Registry.look(at.path);
  switch (look.state) {
    case "missing":
      if (threads.size === 0) return null;
      return finding("DERIVED_MISSING", at, `${REGISTRY_NAME} is missing`);
    case "foreign":
      return finding("DERIVED_FOREIGN", at, `${REGISTRY_NAME} is another program's`);
    case "damaged":
      return finding("DERIVED_STALE", at, `${REGISTRY_NAME} is damaged: ${look.problem}`);
    case "unreadable":
      return finding("UNREADABLE", at, `it cannot be read: ${look.problem}`);
    case "ours": {
      const difference = differences(threads, look.seen);
      return difference === "" ? null : finding("DERIVED_STALE", at, difference);
    }
  }
}

/** A description of how the registry differs from the threads; "" if it does not. */
function differences(
  threads: ReadonlyMap<string, RegisteredThread>,
  listed: readonly RegisteredThread[],
): string {
  let [lacking, wrong, gone] = [threads.size, 0, 0];
  for (const row of listed) {
    const thread = threads.get(row.thread_id);
    if (!thread) {
      gone++;
      continue;
    }
    lacking--;
    if (JSON.stringify(threadColumns(row)) !== JSON.stringify(threadColumns(thread))) wrong++;
  }
  const said = [
    ...(lacking > 0 ? [`lacks ${lacking} of ${threads.size} threads`] : []),
    ...(wrong > 0 ? [`has ${wrong} not as they are`] : []),
    ...(gone > 0 ? [`lists ${gone} that are gone`] : []),
  ];
  return said.length === 0 ? "" : `${REGISTRY_NAME} ${said.join(", ")}`;
}

/** What the registry should list: every thread with a usable thread.json. */
async function threadsOf({ root }: Project): Promise<Map<string, RegisteredThread>> {
  const threads = new Map<string, RegisteredThread>();
  for await (const { meta } of findThreadMetas(root)) {
    if (!isThreadMeta(meta)) continue;
    const { thread_id, directive, status, parent_thread_id, created_at, updated_at } = meta;
    // Not the whole file: ten thousand of them may need much memory.
    const row = { thread_id, directive, status, parent_thread_id, created_at, updated_at };
    threads.set(thread_id, row as RegisteredThread);
  }
  return threads;
}

function threadsPath({ root }: Project): string {
  return join(root, ...THREADS_PATH);
}
