/** Copy places: the two sides of `copy` and `backup`, by the names that the user gave. */

import { resolve } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { StreamCopyReport } from "../../streams/copy/copy-streams.ts";
import type { CopySource, CopyTarget } from "../../streams/copy/sides.ts";
import { urlWithoutPassword } from "../../streams/postgres/store-options.ts";
import { type Io, UsageError } from "../command/command.ts";

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
    `${path}: ${reason}; stop its servers, copy it to a directory (\`verbatim copy\`), do it there, ` +
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
