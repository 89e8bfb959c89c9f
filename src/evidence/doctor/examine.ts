/**
 * Examine: examines a session, or a whole store, and reports findings as it meets them.
 *
 * Writes nothing anywhere (examine-session.ts, X1). Repairs are in `repair.ts`.
 *
 * Store walk: the directories of a store that hold or may hold logs, each listed once.
 *
 * `dialects/find.ts` finds logs fast and skips everything else. This walks the same directories and
 * reports what it cannot enter: a link is not followed, but reported.
 */

import { basename, dirname, join } from "node:path";
import type { SurroundingFile, Surroundings } from "../../core/base/node-surroundings.ts";
import {
  directoryFindings,
  type Finding,
  fileFindings,
  finding,
  troubleOf,
} from "../../core/findings/finding.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { FIND_DEPTH_MAX, iterateLogs, type Layout, type Unreadable } from "../../dialects/find.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import type { FoundSession } from "../../sessions/list/session-place.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import { type Doctor, examineSession } from "./examine-session.ts";
import {
  belongsTo,
  byLog,
  derivedKind,
  isDerived,
  isOurs,
  loadOwnFiles,
  logNameOf,
  olderFile,
  storeFiles,
} from "./own-names.ts";

/** A session that will be examined next, or a finding. */
export type ExaminedItem = { readonly session: FoundSession } | { readonly finding: Finding };

export async function* examineOne(
  doctor: Doctor,
  found: FoundSession,
): AsyncGenerator<ExaminedItem> {
  await loadOwnFiles();
  yield { session: found };
  const { id, path } = found;
  if (dialectNamed(found.dialect).program) {
    // The files around it are the program's own business.
    yield* told(examineSession(doctor, found, []));
    const older = id === null ? null : olderFile(found.dialect, found.root, id);
    if (older !== null) {
      const at = { session: id, path: older };
      yield { finding: finding("OLDER_FILE", at, `${found.path} continues it`) };
    }
    return;
  }
  const directory = dirname(path);
  yield* told(networkFindings(doctor, id, directory));
  let entries: readonly SurroundingFile[] = [];
  try {
    entries = doctor.surroundings.list(directory);
  } catch (cause) {
    // The directory cannot be listed, but the log may still open.
    const trouble = troubleOf({ session: id, path: directory }, cause);
    if (trouble) yield { finding: trouble };
  }
  const name = basename(path);
  const files =
    id === null
      ? entries.filter((each) => belongsTo(name, each.name))
      : (byLog(found.dialect, entries).get(name) ?? []);
  const isOurOwn = id === null || isOurs(found.dialect, files);
  if (id !== null && isOurOwn) {
    const seen = doctor.surroundings.look(directory);
    yield* told(directoryFindings({ session: id, path: directory }, seen));
  }
  yield* told(fileFindings(directory, id, files, isOurOwn));
  const log = files.find((each) => each.name === name);
  if (log === undefined && entries.length > 0) {
    yield { finding: missingLog(id, path, hasCheckpointsOf(name, files)) };
  } else if (log === undefined || log.kind === "file") {
    yield* told(examineSession(doctor, found, files));
  }
  if (id !== null) yield* told(inboxFindings(found, id));
}

/** Every session of a store, and the store's own files. */
export async function* examineStore(
  doctor: Doctor,
  store: FoundStore,
): AsyncGenerator<ExaminedItem> {
  yield* examineSessions(doctor, store);
  yield* examineStoreFiles(doctor, store);
}

export async function* examineSessions(
  doctor: Doctor,
  store: FoundStore,
): AsyncGenerator<ExaminedItem> {
  await loadOwnFiles();
  const { dialect, root } = store;
  if (dialectNamed(dialect).program) {
    yield* examinePrograms(doctor, store);
    return;
  }
  yield* told(networkFindings(doctor, null, root));
  const isFile = (name: string) => logNameOf(dialect, name) !== null;
  for (const step of walkStore(
    doctor.surroundings,
    root,
    dialectNamed(dialect).naming.layout,
    isFile,
  )) {
    if ("finding" in step) yield step;
    else yield* examineDirectory(doctor, store, step.directory);
  }
}

/** Sessions of another program: their logs, wherever its layout has them. */
async function* examinePrograms(doctor: Doctor, store: FoundStore): AsyncGenerator<ExaminedItem> {
  const { dialect, root } = store;
  const unreadable: Unreadable[] = [];
  const onUnreadable = (each: Unreadable) => unreadable.push(each);
  for (const { id, path } of iterateLogs(root, dialectNamed(dialect).naming.layout, {
    onUnreadable,
  })) {
    yield* examineOne(doctor, { dialect, root, id, path: join(root, path) });
  }
  for (const { id, path, cause } of unreadable) {
    const trouble = troubleOf({ session: id, path: join(root, path) }, cause);
    if (trouble) yield { finding: trouble };
  }
}

/** The store's own files. Links are not followed. */
export async function* examineStoreFiles(
  doctor: Doctor,
  store: FoundStore,
): AsyncGenerator<ExaminedItem> {
  await loadOwnFiles();
  const {
    naming: { layout },
    program,
  } = dialectNamed(store.dialect);
  if (program) return;
  const { under } = layout;
  for (let depth = 1; depth <= under.length; depth++) {
    const seen = doctor.surroundings.look(join(store.root, ...under.slice(0, depth)));
    if (seen?.kind !== "directory") return;
  }
  const check = storeFiles(store.dialect);
  if (check) yield* told(check.look(doctor, store));
  yield* told(inboxFindings(store));
}

async function* examineDirectory(
  doctor: Doctor,
  { dialect, root }: FoundStore,
  { path: directory, below, entries }: WalkedDirectory,
): AsyncGenerator<ExaminedItem> {
  let isJudged = false;
  for (const [name, files] of byLog(dialect, entries)) {
    const id = dialectNamed(dialect).naming.layout.idAt([...below, name]);
    if (id === null) continue; // No session can have this id: the file belongs to another program.
    const path = join(directory, name);
    const log = files.find((each) => each.name === name);
    if (!log) {
      if (!isOurs(dialect, files)) continue;
      const isSigned = hasCheckpointsOf(name, files);
      if (!isSigned && !files.some((each) => isDerived(dialect, each.name))) continue;
      yield { finding: missingLog(id, path, isSigned) };
      continue;
    }
    const session = { dialect, root, id, path };
    yield { session };
    const isOurOwn = isOurs(dialect, files);
    if (!isJudged && isOurOwn) {
      // A directory belongs to one session, or is shared by many and then to none in particular.
      const at = { session: derivedKind(dialect) ? id : null, path: directory };
      yield* told(directoryFindings(at, doctor.surroundings.look(directory)));
      isJudged = true;
    }
    yield* told(fileFindings(directory, id, files, isOurOwn));
    if (log.kind === "file") yield* told(examineSession(doctor, session, files));
  }
}

/** A sidecar file is created with the first checkpoint of its log. */
function hasCheckpointsOf(logName: string, files: readonly SurroundingFile[]): boolean {
  return files.some(({ name, kind }) => name === sidecarOf(logName) && kind === "file");
}

function missingLog(session: string | null, path: string, isSigned: boolean): Finding {
  const at = { session, path };
  const name = basename(path);
  if (!isSigned) return finding("LOG_MISSING", at, `${name} is missing`);
  const detail = `rollback: ${name} is gone, and was signed; its checkpoints are still there`;
  return finding("SIGNED_LOG_MISSING", at, detail);
}

async function* networkFindings(
  { host }: Doctor,
  session: string | null,
  path: string,
): AsyncGenerator<Finding> {
  try {
    const directory = await host.files.openDirectory(path, { create: false });
    const { networkFileSystem } = directory;
    directory.close();
    if (networkFileSystem === null) return;
    const detail = `it is on ${networkFileSystem}: durability depends on the file server`;
    yield finding("NETWORK_FILE_SYSTEM", { session, path }, detail);
  } catch (cause) {
    const trouble = troubleOf({ session, path }, cause);
    if (trouble) yield trouble;
  }
}

async function* told(
  findings: AsyncIterable<Finding> | Iterable<Finding>,
): AsyncGenerator<ExaminedItem> {
  for await (const each of findings) yield { finding: each };
}

/** One finding for each session with waiting lines, or only for one session. */
function* inboxFindings({ dialect, root }: FoundStore, only?: string): Generator<Finding> {
  const { inbox } = dialectNamed(dialect).files ?? {};
  if (!inbox?.mayWait(root)) return;
  for (const [session, count] of inbox.waiting(root)) {
    if (only !== undefined && session !== only) continue;
    const hooks = count === 1 ? "1 recorded hook waits" : `${count} recorded hooks wait`;
    const at = { session, path: inbox.directory(root) };
    yield finding("HOOKS_WAITING", at, `${hooks}; drain with \`verbatim ls\``);
  }
}

interface WalkedDirectory {
  readonly path: string;
  /** The path below the store's root, in segments. */
  readonly below: readonly string[];
  readonly entries: readonly SurroundingFile[];
}

/** A directory, or what is wrong where one should be. */
export type WalkStep = { readonly directory: WalkedDirectory } | { readonly finding: Finding };

/** `isFile` says which names are files: links there are reported with the files. */
function* walkStore(
  surroundings: Surroundings,
  root: string,
  layout: Layout,
  isFile: (name: string) => boolean,
): Generator<WalkStep> {
  const walk = new Walk(surroundings, root, isFile);
  for (let depth = 1; depth <= layout.under.length; depth++) {
    const below = layout.under.slice(0, depth);
    const kind = surroundings.look(`${root}/${below.join("/")}`)?.kind;
    if (kind === "link") yield walk.refused(below);
    if (kind !== "directory") return;
  }
  if ("levels" in layout) yield* walk.levels(layout.under, layout.levels);
  else yield* walk.below(layout.under, layout.depthMax ?? FIND_DEPTH_MAX);
}

class Walk {
  readonly #surroundings: Surroundings;
  readonly #root: string;
  readonly #isFile: (name: string) => boolean;

  constructor(surroundings: Surroundings, root: string, isFile: (name: string) => boolean) {
    this.#surroundings = surroundings;
    this.#root = root;
    this.#isFile = isFile;
  }

  /** A directory and all below it. */
  *below(below: readonly string[], depthLeft: number): Generator<WalkStep> {
    const step = this.#list(below);
    if (!step) return;
    yield step;
    if (!("directory" in step) || depthLeft === 0) return;
    for (const { name, kind } of step.directory.entries) {
      if (kind === "directory") yield* this.below([...below, name], depthLeft - 1);
      else if (kind === "link" && this.#leadsAway([...below, name])) {
        yield this.refused([...below, name]);
      }
    }
  }

  /** The directories this many levels below one; null matches any name. */
  *levels(below: readonly string[], levels: readonly (string | null)[]): Generator<WalkStep> {
    const step = this.#list(below);
    if (!step) return;
    const [level, ...deeper] = levels;
    if (level === undefined || !("directory" in step)) {
      yield step;
      return;
    }
    for (const { name, kind } of step.directory.entries) {
      if (level !== null && name !== level) continue;
      if (kind === "directory") yield* this.levels([...below, name], deeper);
      else if (kind === "link" && this.#leadsAway([...below, name])) {
        yield this.refused([...below, name]);
      }
    }
  }

  refused(below: readonly string[]): WalkStep {
    const path = this.#path(below);
    const detail = `${below.at(-1)} is a symbolic link to a directory: what is in it was not examined`;
    return { finding: finding("SYMLINK_REFUSED", { session: null, path }, detail) };
  }

  #list(below: readonly string[]): WalkStep | null {
    const path = this.#path(below);
    try {
      return { directory: { path, below, entries: this.#surroundings.list(path) } };
    } catch (cause) {
      const trouble = troubleOf({ session: null, path }, cause);
      return trouble && { finding: trouble };
    }
  }

  /** Whether it links to a directory elsewhere. A link within this store is only a second name. */
  #leadsAway(below: readonly string[]): boolean {
    if (this.#isFile(below.at(-1) ?? "")) return false;
    const target = this.#surroundings.directoryBehind(this.#path(below));
    if (target === null) return false;
    const root = this.#surroundings.directoryBehind(this.#root) ?? this.#root;
    return !`${target}/`.startsWith(`${root}/`);
  }

  #path(below: readonly string[]): string {
    return [this.#root, ...below].join("/");
  }
}
