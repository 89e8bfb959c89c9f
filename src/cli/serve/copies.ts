/** Copies: `verbatim server backup` and `verbatim server copy`, and the places that their users name. */

import { resolve } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { StreamCopyReport } from "../../streams/copy/copy-streams.ts";
import type { CopySource, CopyTarget } from "../../streams/copy/sides.ts";
import { urlWithoutPassword } from "../../streams/postgres/store-options.ts";
import { type Io, type Run, textOption, UsageError } from "../command/command.ts";

const MB = 1e6;

export function isDatabase(name: string): boolean {
  return /^postgres(ql)?:/.test(name);
}

/** The URL of a database; wrong usage if it is another one. */
export function databaseUrl(flag: string, name: string): string {
  if (isDatabase(name)) return name;
  throw new UsageError(`${flag} takes postgres://user@host/database`);
}

/** Refuses URLs of other databases, which would be names of directories. */
export function checkPlace(flag: string, name: string): void {
  if (isDatabase(name) || !/^[a-z][a-z0-9+.-]*:\/\//i.test(name)) return;
  throw new UsageError(`${flag} takes a data directory, or postgres://user@host/database`);
}

/** Refuses names of databases for what is done only to the files of a data directory. */
export function refuseDatabases(names: readonly (string | undefined)[], what: string): void {
  const name = names.find((each) => each !== undefined && isDatabase(each));
  if (name === undefined) return;
  const path = urlWithoutPassword(name);
  const reason = `${what} works on data directories only`;
  throw new VerbatimError(
    "POSTGRES_REFUSED",
    `${path}: ${reason}; stop its servers, copy it to a directory (\`verbatim server copy\`), do it there, ` +
      "and copy that to an empty database",
    { path, reason },
  );
}

/** `isAlone`: refuse a database that a server uses. A directory in use is always refused. */
export async function openSource(name: string, isAlone: boolean): Promise<CopySource> {
  if (isDatabase(name)) {
    const { openPostgresSource } = await import("../../streams/postgres/postgres-source.ts");
    return openPostgresSource(name, { isAlone });
  }
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { openDirectorySource } = await import("../../streams/copy/directory-source.ts");
  return openDirectorySource(nodeHost, resolve(name));
}

async function openTarget(name: string, source: CopySource): Promise<CopyTarget> {
  if (isDatabase(name)) {
    const { openPostgresTarget } = await import("../../streams/postgres/postgres-target.ts");
    return openPostgresTarget(name, source);
  }
  const { randomBytes } = await import("node:crypto");
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { openDirectoryTarget } = await import("../../streams/copy/directory-target.ts");
  const newId = () => randomBytes(8).toString("hex");
  return openDirectoryTarget(nodeHost, resolve(name), source, newId);
}

/** Copies, and shows how far it is. */
export async function copyBetween(
  source: CopySource,
  to: string,
  io: Io,
): Promise<StreamCopyReport & { readonly to: string }> {
  const { copyStreams } = await import("../../streams/copy/copy-streams.ts");
  const target = await openTarget(to, source);
  try {
    if (target.isResumed) io.err(`continuing the copy that was begun in ${target.place}`);
    const report = await copyStreams(source, target, (done, bytes, of) => {
      io.progress(`${done} ${Math.floor(bytes / MB)} of ${Math.floor(of.bytes / MB)} MB`);
    });
    io.progress(null);
    return { ...report, to: target.place };
  } finally {
    await target.close();
  }
}

export async function runBackup({ args, options, io }: Run): Promise<number> {
  const to = resolve(args[0] as string);
  const url = textOption("--store", options.store);
  const data = textOption("--data", options.data);
  if (url !== undefined && data !== undefined) throw new UsageError("give --data or --store");
  const { streams, bytes } = await (url === undefined
    ? backUpDirectory(data, to, io)
    : backUpDatabase(url, to, io));
  io.progress(null);
  if (options.json) io.out(JSON.stringify({ directory: to, streams, bytes }));
  else io.out(`${streams} ${streams === 1 ? "stream" : "streams"}, ${bytes} bytes, in ${to}`);
  return 0;
}

async function backUpDirectory(data: string | undefined, to: string, io: Io) {
  const { dataDirectory } = await import("../../core/base/node-paths.ts");
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { backUp } = await import("../../streams/journal/backup.ts");
  return backUp({
    host: nodeHost,
    from: resolve(data ?? dataDirectory()),
    to,
    onProgress: (bytes) => io.progress(`${Math.floor(bytes / 1e6)} MB`),
  });
}

/** Of one moment: a snapshot of the database. */
async function backUpDatabase(url: string, to: string, io: Io) {
  const source = await openSource(databaseUrl("--store", url), false);
  try {
    return await copyBetween(source, to, io);
  } finally {
    await source.close();
  }
}

export async function runCopy({ options, io }: Run): Promise<number> {
  const from = textOption("--from", options.from);
  const to = textOption("--to", options.to);
  if (from === undefined || to === undefined) throw new UsageError("give --from and --to");
  checkPlace("--from", from);
  checkPlace("--to", to);
  const source = await openSource(from, true);
  try {
    const { isResumed, ...report } = await copyBetween(source, to, io);
    const { streams, bytes, records } = report;
    if (options.json) {
      io.out(JSON.stringify({ from: source.place, ...report, resumed: isResumed }));
    } else {
      const count = `${streams} ${streams === 1 ? "stream" : "streams"}, ${bytes} bytes`;
      const more = records === 0 ? "" : ` and ${records} records of subscriptions`;
      io.out(`${count}${more} copied to ${report.to}, and compared`);
    }
    warn(io, source.others ?? []);
    return 0;
  } finally {
    await source.close();
  }
}

function warn(io: Io, notCopied: readonly string[]): void {
  if (notCopied.length === 0) return;
  io.err(`not copied: ${notCopied.join(", ")}; serve needs them in --data`);
  if (!notCopied.includes("tokens.json")) return;
  io.err(
    "warning: tokens were not copied: without tokens.json in its --data, a server needs no token",
  );
}
