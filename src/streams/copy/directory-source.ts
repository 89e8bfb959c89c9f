/**
 * Directory source: the streams of a data directory that no server uses.
 *
 * The state is computed from `meta.jsonl`, in an index outside the directory, because `streams.db`
 * is only a cache. If a server was killed there, the directory is recovered first, as the next
 * server would do.
 */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import { openIfThere } from "../../core/base/file-steps.ts";
import type { Directory } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { readChunks, readStretch } from "../../core/log/bytes.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import type { MessagePointer, StreamState } from "../commit/stream-state.ts";
import { openLocalStore } from "../files/local-store.ts";
import { StreamIndex } from "../files/lookup/stream-index.ts";
import type { ProducerTurn } from "../files/stream-store.ts";
import { COPYING, lockUnused } from "../journal/data-directory.ts";
import { crcOf } from "../journal/journal-record.ts";
import { scanJournal } from "../journal/journal-scan.ts";
import { MetaFile } from "../journal/meta-file.ts";
import { applyMeta } from "../journal/recovery.ts";
import {
  type CopySource,
  copyRefused,
  type Messages,
  PART_BYTES,
  PART_MESSAGES,
  type Totals,
} from "./sides.ts";

const STREAMS_TOGETHER = 1000;
/** Files of the streams. */
const OF_STREAMS = /^(?:streams\.(?:db|mark).*|meta\.jsonl|logs|journal)$/;
/** Files that a server makes again. */
const MADE_AGAIN = /^(?:.*\.lock|\.viewer\.json|\.received)$/;

export async function openDirectorySource(host: Host, path: string): Promise<DirectorySource> {
  const root = await host.files.openDirectory(path, { create: false }).catch((cause: unknown) => {
    const isMissing = errnoOf(cause instanceof VerbatimError ? cause.cause : cause) === "ENOENT";
    throw isMissing ? copyRefused(path, "there is no such directory") : cause;
  });
  const opened: { close(): void }[] = [root];
  try {
    if (root.names().includes(COPYING)) throw copyRefused(path, "a copy to it is not finished");
    const lock = lockUnused(root);
    opened.push(lock);
    if (await isPending(host, root)) {
      lock.close();
      opened.pop();
      await (await openLocalStore({ dataDirectory: path, host })).close();
      opened.push(lockUnused(root));
    }
    return await DirectorySource.open(host, root, root, opened);
  } catch (cause) {
    for (const each of opened.reverse()) each.close();
    throw cause;
  }
}

/** Whether the journal has records that are not in the files. */
async function isPending(host: Host, root: Directory): Promise<boolean> {
  const meta = root.names().includes("meta.jsonl") ? await MetaFile.openToRead(root) : null;
  if (meta === null) throw copyRefused(root.path, "it is no data directory of a server");
  try {
    if (meta.bytesLeft > 0) return true;
    if (!root.names().includes("journal")) return false;
    const journals = await host.files.openDirectory(`${root.path}/journal`, { create: false });
    try {
      const { records } = await scanJournal(journals, meta.storeId, meta.writtenBackLsn);
      return records.length > 0;
    } finally {
      journals.close();
    }
  } finally {
    meta.close();
  }
}

export class DirectorySource implements CopySource {
  readonly place: string;
  readonly identity: string;
  readonly location: string;
  readonly others: readonly string[];
  readonly #index: StreamIndex;
  readonly #logs: Directory;
  readonly #opened: readonly { close(): void }[];
  readonly #scratch: string;

  private constructor(
    root: Directory,
    { storeId, writtenBackLsn }: MetaFile,
    parts: { index: StreamIndex; logs: Directory; scratch: string },
    opened: readonly { close(): void }[],
  ) {
    this.place = root.path;
    this.location = realpathSync(root.path);
    this.identity = `directory ${storeId} ${writtenBackLsn}`;
    this.others = root.names().filter((name) => !OF_STREAMS.test(name) && !MADE_AGAIN.test(name));
    this.#index = parts.index;
    this.#logs = parts.logs;
    this.#scratch = parts.scratch;
    this.#opened = opened;
  }

  /** `metaIn`: where its `meta.jsonl` is. Closes `opened` when it is closed. */
  static async open(
    host: Host,
    root: Directory,
    metaIn: Directory,
    opened: readonly { close(): void }[],
  ): Promise<DirectorySource> {
    const scratch = mkdtempSync(join(tmpdir(), "verbatim-copy-"));
    const index = await StreamIndex.open(join(scratch, "index.db"));
    const logs = await host.files.openDirectory(`${root.path}/logs`, { create: true });
    const meta = await MetaFile.openToRead(metaIn);
    if (meta === null) throw copyRefused(root.path, "its meta.jsonl is empty");
    try {
      await applyMeta(index, { meta, onProgress: () => {} });
    } finally {
      meta.close();
    }
    return new DirectorySource(root, meta, { index, logs, scratch }, [...opened, index, logs]);
  }

  async totals(): Promise<Totals> {
    let [streams, bytes] = [0, 0];
    for await (const { status, base, end } of this.streams("")) {
      if (status === "deleted") continue;
      streams++;
      bytes += end - base;
    }
    return { streams, bytes };
  }

  async *streams(after: string): AsyncGenerator<StreamState> {
    for (let last: string | undefined = after; last !== undefined; ) {
      const states: readonly StreamState[] = this.#index.allStreams(last, STREAMS_TOGETHER);
      yield* states;
      last = states.at(-1)?.path;
    }
  }

  async *messages(stream: StreamState, from: number): AsyncGenerator<Messages> {
    if (from >= stream.end) return;
    const file = openIfThere(this.#logs, stream.file);
    if (file === null) throw this.#damaged(stream, from);
    try {
      for (let at = from; at < stream.end; ) {
        const pointers = fitting(this.#index.messages(stream, at, stream.end, PART_MESSAGES));
        const end = pointers.at(-1)?.end;
        if (end === undefined) throw this.#damaged(stream, at);
        const bytes = await readStretch(file, at - stream.base, end - stream.base);
        for (const { end: to, length, crc } of pointers) {
          if (to - length !== at) throw this.#damaged(stream, at);
          const start = to - length - (end - bytes.length);
          const message = bytes.subarray(start, start + length);
          if (message.length !== length || crcOf(message) !== crc) throw this.#damaged(stream, at);
          at = to;
        }
        yield { pointers, bytes };
      }
    } finally {
      file.close();
    }
  }

  async producers({ path }: StreamState): Promise<readonly ProducerTurn[]> {
    return this.#index.producers(path);
  }

  async *checkpoints({ file }: StreamState): AsyncGenerator<Buffer> {
    const sidecar = openIfThere(this.#logs, sidecarOf(file));
    if (sidecar === null) return;
    try {
      yield* readChunks(sidecar, 0, sidecar.size());
    } finally {
      sidecar.close();
    }
  }

  async records(): Promise<ReadonlyMap<string, string>> {
    return this.#index.records("");
  }

  async close(): Promise<void> {
    for (const each of this.#opened.toReversed()) each.close();
    rmSync(this.#scratch, { recursive: true, force: true });
  }

  #damaged(stream: StreamState, at: number): VerbatimError<"STREAM_DAMAGED"> {
    const path = `${this.#logs.path}/${stream.file}`;
    const offset = at - stream.base;
    return new VerbatimError(
      "STREAM_DAMAGED",
      `${path} is damaged: it differs from what was appended to ${stream.path}, at byte ${offset} ` +
        "or after; restore the file from a backup",
      { stream: stream.path, offset, path },
    );
  }
}

/** At least one message, then as many as one part may have. */
function fitting(pointers: readonly MessagePointer[]): readonly MessagePointer[] {
  const first = pointers[0];
  if (first === undefined) return [];
  const limit = first.end - first.length + PART_BYTES;
  return pointers.filter(({ end }, n) => n === 0 || end <= limit);
}
