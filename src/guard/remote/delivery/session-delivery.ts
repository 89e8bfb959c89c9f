/**
 * Session delivery: sends the log of one session and its sidecar, from one process.
 *
 * - A sidecar is never ahead of its log on the server: its end is read first, then the log's; the
 *   log is sent first. So a checkpoint never covers lines that are not there.
 * - Only whole lines are sent, and only such that their writer will not take back: up to the end
 *   that it acknowledged; of a log that another process writes, once that has rested.
 */

import { basename, dirname, join } from "node:path";
import { openIfThere } from "../../../core/base/file-steps.ts";
import type { Directory } from "../../../core/base/files.ts";
import type { Host } from "../../../core/base/host.ts";
import { isBeingWritten } from "../../../core/log/lock.ts";
import { findTail } from "../../../core/log/tail.ts";
import { generationFile, readGeneration } from "../../../dialects/files/guard-store.ts";
import { sidecarOf } from "../../../trust/session-log.ts";
import { sidecarStreamOf } from "../session-paths.ts";
import { FileDelivery, NOTHING_DELIVERED, type SourceFile } from "./file-delivery.ts";
import type { DeliveryRecord, OutgoingSession, SessionOutbox } from "./outbox.ts";
import { RemoteStream, type Requests } from "./remote-stream.ts";

export interface DeliveryParts {
  readonly host: Host;
  readonly requests: Requests;
  readonly outbox: SessionOutbox;
}

/** `busy`: another process delivers or writes the session; later. */
export type DeliveryState = "delivered" | "busy";

export class SessionDelivery {
  readonly session: OutgoingSession;
  readonly #parts: DeliveryParts;
  #log: FileDelivery | null = null;
  #sidecar: FileDelivery | null = null;

  constructor(parts: DeliveryParts, session: OutgoingSession) {
    this.#parts = parts;
    this.session = session;
  }

  /** How much of the log the server is known to have. */
  get deliveredBytes(): number {
    return this.#log?.delivered.offset ?? 0;
  }

  /**
   * Sends what the server does not have. `end`: the acknowledged end of the log, if this process
   * writes it.
   */
  async run(end?: number): Promise<DeliveryState> {
    const { outbox } = this.#parts;
    let isBusy = false;
    const deliver = async (record: DeliveryRecord) => {
      this.#begin(record);
      isBusy = (await this.#sendBoth(end)) === "busy";
    };
    const isAlone = await outbox.alone(this.session, deliver, () => ({
      log: this.#log?.delivered ?? NOTHING_DELIVERED,
      sidecar: this.#sidecar?.delivered ?? NOTHING_DELIVERED,
    }));
    return isAlone && !isBusy ? "delivered" : "busy";
  }

  /** Another process may have delivered more since: its record counts. */
  #begin({ log, sidecar }: DeliveryRecord): void {
    const { requests, outbox } = this.#parts;
    const stream = outbox.streamOf(this.session);
    if (this.#log === null || this.#log.delivered.token !== log.token) {
      this.#log = new FileDelivery(requests, new RemoteStream(requests, stream), log);
    }
    if (this.#sidecar === null || this.#sidecar.delivered.token !== sidecar.token) {
      const path = sidecarStreamOf(stream);
      this.#sidecar = new FileDelivery(requests, new RemoteStream(requests, path), sidecar);
    }
  }

  async #sendBoth(end: number | undefined): Promise<DeliveryState> {
    const { root, file } = this.session;
    const path = join(root, file);
    const options = { create: false, root };
    const directory = await this.#parts.host.files.openDirectory(dirname(path), options);
    try {
      const name = basename(path);
      if (end === undefined && isBeingWritten(directory, name)) return "busy";
      const sidecar = openIfThere(directory, sidecarOf(name));
      try {
        const sidecarEnd = sidecar ? (await findTail(sidecar)).end : 0;
        await this.#sendLog(directory, name, end);
        if (sidecar) await this.#sidecar?.deliver(sidecar, sidecarEnd);
      } finally {
        sidecar?.close();
      }
      return "delivered";
    } finally {
      directory.close();
    }
  }

  async #sendLog(directory: Directory, name: string, end: number | undefined): Promise<void> {
    const log = openIfThere(directory, name);
    if (log === null) {
      const kept = this.#inflated();
      if (kept !== null) await this.#log?.deliver(kept, kept.size());
      return;
    }
    try {
      const { generation, isRows = false } = this.session;
      const isBytes = generation !== null && !isRows; // All of it: it is never cut.
      const linesEnd = isBytes ? log.size() : (await findTail(log)).end;
      await this.#log?.deliver(log, Math.min(linesEnd, end ?? linesEnd));
    } finally {
      log.close();
    }
  }

  /** A guard's copy that was compressed since; null: there is none. */
  #inflated(): SourceFile | null {
    const { root, path, generation } = this.session;
    if (generation === null || generationFile(root, path, generation) === null) return null;
    const bytes = readGeneration(root, path, generation) ?? Buffer.alloc(0);
    return {
      size: () => bytes.length,
      sync: async () => {},
      identity: () => "inflated",
      read: async (into, at) => bytes.copy(into, 0, at),
    };
  }
}
