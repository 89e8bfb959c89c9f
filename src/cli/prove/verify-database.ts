/**
 * Verify database: verdicts on the streams of data directories and databases, by the user's names.
 *
 * A database is judged in one snapshot: the rows are written to temporary files as they are, whatever their checksums, and judged as the
 * files of a data directory. A stream's file is removed once it was judged, unless forks need it.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import type { UserTrust } from "../../evidence/verify/data-directories.ts";
import type { StreamJudging } from "../../evidence/verify/judge-streams.ts";
import { reportsOn } from "../../evidence/verify/verify-directory.ts";
import type { StreamState } from "../../streams/commit/stream-state.ts";
import { openPostgresSource, type PostgresSource } from "../../streams/postgres/postgres-source.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import type { Run } from "../command/command.ts";

const APPEND = { flag: "a", mode: 0o600 };

/** `only`: paths of streams; none: all of them. Throws STREAM_NOT_FOUND for one without a report. */
export async function* verifyDatabase(
  url: string,
  judging: StreamJudging,
  only: readonly string[],
  onEmpty: (stream: string) => void,
): AsyncGenerator<VerifyReport> {
  const source = await openPostgresSource(url, { isAlone: false });
  const scratch = mkdtempSync(join(tmpdir(), "verbatim-verify-"));
  try {
    mkdirSync(join(scratch, "logs"));
    const files = new DatabaseFiles(source, join(scratch, "logs"));
    const streams = await files.writeCheckpoints();
    const logs = await nodeHost.files.openDirectory(join(scratch, "logs"), { create: false });
    const missing = new Set(only);
    const reports = reportsOn({
      root: source.place,
      logs,
      streams,
      removals: new Set<string>(),
      judging,
      names: { place: `streams:${source.pinnedName}`, others: [], leadsTo: null },
      withFiles: (stream, judge) => files.during(stream.path, judge),
      ...(only.length > 0 && { only }),
      onEmpty: (stream) => {
        missing.delete(stream);
        onEmpty(stream);
      },
    });
    // Paths of the temporary files would mean nothing to the user.
    const withName = (report: VerifyReport): VerifyReport =>
      JSON.parse(JSON.stringify(report).replaceAll(scratch, source.place));
    try {
      for await (const report of reports) {
        missing.delete(report.session ?? "");
        yield withName(report);
      }
    } finally {
      logs.close();
    }
    for (const stream of missing) {
      const text = `${source.place} has no stream ${stream} that could be verified`;
      throw new VerbatimError("STREAM_NOT_FOUND", text, { stream });
    }
  } finally {
    await source.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Rows of a database as files, in the directory `logs`. */
export class DatabaseFiles {
  readonly #source: PostgresSource;
  readonly #logs: string;
  readonly #streams = new Map<string, StreamState>();
  readonly #written = new Set<string>();

  constructor(source: PostgresSource, logs: string) {
    this.#source = source;
    this.#logs = logs;
  }

  /** All streams; their checkpoints say which of them forks need. */
  async writeCheckpoints(): Promise<ReadonlyMap<string, StreamState>> {
    for await (const state of this.#source.streams("")) {
      this.#streams.set(state.path, state);
      if (state.status === "deleted") continue;
      const name = join(this.#logs, sidecarOf(state.file));
      for await (const bytes of this.#source.checkpoints(state)) writeFileSync(name, bytes, APPEND);
    }
    return this.#streams;
  }

  async during<T>(path: string, judge: () => Promise<T>): Promise<T> {
    let state = this.#streams.get(path);
    const stream = state;
    for (; state !== undefined && !this.#written.has(state.path); ) {
      await this.#write(state);
      state = state.base > 0 ? this.#streams.get(state.fork?.source ?? "") : undefined;
    }
    const result = await judge();
    if (stream !== undefined && stream.forks === 0) {
      rmSync(join(this.#logs, stream.file), { force: true });
      this.#written.delete(path);
    }
    return result;
  }

  async #write(state: StreamState): Promise<void> {
    this.#written.add(state.path);
    const name = join(this.#logs, state.file);
    for (let at = 0; ; ) {
      const rows = await this.#source.stored(state, at);
      if (rows.length === 0) return;
      for (const { bytes } of rows) writeFileSync(name, bytes, APPEND);
      at = rows.at(-1)?.end ?? at;
    }
  }
}

/** The path of the named stream. */
export function streamPath(name: string): string {
  return name.startsWith("/") ? name : `/${name}`;
}

/**
 * The report on each stream, and its data directory. `only`: paths of streams in databases.
 * `onEmpty` is called for each stream without a message, which has no report.
 */
export async function* verifyStreams(
  names: readonly string[],
  judging: StreamJudging,
  run: Run,
  only: readonly string[],
  onEmpty: () => void,
): AsyncGenerator<{ readonly report: VerifyReport; readonly root: string }> {
  if (names.length === 0) return;
  if (run.options.pin === true) {
    run.io.err("--pin has no effect on streams: their server pins their heads");
  }
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { verifyDataDirectory } = await import("../../evidence/verify/verify-directory.ts");
  const { isDatabase } = await import("../serve/copies.ts");
  for (const root of names) {
    const reports = isDatabase(root)
      ? verifyDatabase(root, judging, only, onEmpty)
      : verifyDataDirectory(nodeHost, resolve(root), judging, onEmpty);
    for await (const report of reports) yield { report, root };
  }
}

/** Loads the user's trust and pins, as the options ask. */
export async function streamJudging(run: Run): Promise<StreamJudging> {
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { UserJudging } = await import("../../evidence/verify/user-judging.ts");
  const onWarning = (warning: string) => run.io.err(`warning: ${warning}`);
  return streamJudgingOf(await UserJudging.load(nodeHost, { onWarning }), run);
}

/** The same, from loaded trust. */
export async function streamJudgingOf(user: UserTrust, { options }: Run): Promise<StreamJudging> {
  const { streamJudgingBy } = await import("../../evidence/verify/data-directories.ts");
  const flags = { isDeep: options.deep === true, requirePin: options.requirePin === true };
  return streamJudgingBy(user, flags);
}
