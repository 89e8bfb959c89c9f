/** Rye files: implements `DialectFiles` for transcript.md, thread.json and registry.db. */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { InFlight } from "../../../core/base/in-flight.ts";
import { threadKeys } from "../../../trust/trusted-keys/trust.ts";
import type { DialectFiles, StoreFiles, StoreOfFiles } from "../../facets/files.ts";
import type { RyeOptions } from "../options.ts";
import { META_NAME, REGISTRY_NAME, THREADS_PATH } from "../thread-id.ts";
import { formatThreadMeta, isThreadMeta, withoutSignatures } from "../thread-meta.ts";
import { ryeDerived } from "./check-files.ts";
import { forgetThread, lookAtRegistry, mendRegistry } from "./check-registry.ts";
import { parseMeta, RyeDerivedFiles } from "./derived-files.ts";
import { MetaOnDisk } from "./meta-on-disk.ts";
import { MetaProof } from "./meta-proof.ts";
import { type RegisteredThread, Registry } from "./registry.ts";
import { SignedMeta } from "./signed-meta.ts";
import { readStoredMeta } from "./thread-files.ts";
import { findThreadMetas } from "./threads.ts";

/** Changes within this time share a transaction. */
const GATHER_MS = 250;

/**
 * Updates rye's registry from the threads' thread.json, in the background.
 *
 * Only closing the store waits for it. The registry is opened with the first thread that changes,
 * and filled from the directories if it is empty.
 */
class Registrar {
  readonly #projectPath: string;
  readonly #threadsPath: string;
  readonly #onWarning: (warning: string) => void;
  readonly #work = new InFlight();
  #waiting = new Map<string, RegisteredThread>();
  #writing: Promise<void> | null = null;
  #registry: Registry | null | undefined;
  readonly #hurry = new AbortController();

  /** `threadsPath` is the directory of threads, `projectPath` its project. */
  constructor(projectPath: string, threadsPath: string, onWarning: (warning: string) => void) {
    this.#projectPath = projectPath;
    this.#threadsPath = threadsPath;
    this.#onWarning = onWarning;
  }

  /** A thread's meta has changed. */
  note(thread: RegisteredThread): void {
    this.#waiting.set(thread.thread_id, thread);
    this.#writing ??= this.#work.track(this.#write());
  }

  /** Resolves when everything noted is in the registry. */
  async close(): Promise<void> {
    this.#hurry.abort();
    while (this.#writing) await this.#work.ended();
    this.#registry?.close();
    this.#registry = undefined;
  }

  async #write(): Promise<void> {
    try {
      // Rejects when the registrar is closed, which ends the delay.
      await sleep(GATHER_MS, undefined, { signal: this.#hurry.signal }).catch(() => {});
      if (this.#registry === undefined) {
        this.#registry = await Registry.open(join(this.#threadsPath, REGISTRY_NAME));
        if (this.#registry?.isEmpty) await this.#fill(this.#registry);
      }
      const threads = this.#waiting;
      this.#waiting = new Map();
      this.#registry?.put(threads.values());
    } catch (cause) {
      this.#onWarning(`${REGISTRY_NAME} could not be written: ${String(cause)}`);
    }
    this.#writing = null;
    if (this.#waiting.size > 0 && this.#registry) this.#writing = this.#work.track(this.#write());
  }

  async #fill(registry: Registry): Promise<void> {
    const threads: RegisteredThread[] = [];
    for await (const { meta } of findThreadMetas(this.#projectPath)) {
      if (isThreadMeta(meta)) threads.push(meta);
    }
    registry.put(threads);
  }
}

export const ryeFiles: DialectFiles = {
  openStore,
  derived: ryeDerived,
  ofStore: { look: lookAtRegistry, mend: mendRegistry, forget: forgetThread },
  async standingOf(host, root, id) {
    const meta = await readStoredMeta(host, root, id);
    const status = meta?.status;
    return {
      status: status === "running" || status === "paused" ? status : null,
      parent: meta?.parent_thread_id || null,
      agent: meta?.directive || null,
    };
  },
  proofOf: (host, log, trust) => new MetaProof(host, log, threadKeys(trust, log.id)),
  signedFile: {
    name: META_NAME,
    read: (host, log) => MetaOnDisk.read(host, log),
    of: (text) => new MetaOnDisk(text),
    async renew(text, id, tools) {
      const meta = parseMeta(text);
      if (!meta || !tools) return meta && formatThreadMeta(withoutSignatures(meta));
      let renewed = "";
      await new SignedMeta(id, tools).write(meta, async (signed) => {
        renewed = signed;
      });
      return renewed;
    },
  },
  async installed(host, { root, id }, onWarning) {
    const meta = await readStoredMeta(host, root, id);
    if (!meta) return;
    const registrar = new Registrar(root, join(root, ...THREADS_PATH), onWarning);
    registrar.note(meta);
    await registrar.close();
  },
};

function openStore({ project, options, ...store }: StoreOfFiles): StoreFiles {
  const { markdown = true } = options as RyeOptions;
  // A directory of threads outside a project has no registry.
  const registrar =
    project === null
      ? null
      : new Registrar(project, join(project, ...THREADS_PATH), store.onWarning);
  return {
    openDerived: ({ id, logId }) =>
      new RyeDerivedFiles({
        ...store,
        threadId: id,
        logId,
        hasMarkdown: markdown,
        onMeta: (meta) => registrar?.note(meta),
      }),
    close: async () => registrar?.close(),
  };
}
