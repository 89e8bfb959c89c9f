/**
 * VerbatimSaver: a checkpointer of LangGraph whose threads are append-only logs, one for each.
 *
 * - When `put` or `putWrites` resolves, its lines are durable. Nothing is erased: deleting a thread
 *   is a line of its log.
 * - Several processes may use one thread at once: each call first reads the lines that came since.
 * - What a thread returns is decided by LangGraph's own MemorySaver (thread.ts).
 */

import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { badArgument, checkData, checkOptions, type OptionKinds } from "../../core/base/choice.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import type { Native } from "../../core/model/entry.ts";
import { provideDialect } from "../../dialects/all.ts";
import { sdk } from "../../dialects/verbatim/sdk-dialect.ts";
import { SessionPool } from "../../sessions/store/pool.ts";
import type { Session } from "../../sessions/store/session.ts";
import { Store, type StoreOptions } from "../../sessions/store/store.ts";
import { inGroups } from "../history/history.ts";
import { Thread } from "./thread.ts";

export interface VerbatimSaverOptions
  extends Pick<StoreOptions, "root" | "remember" | "durability" | "sign" | "lockWaitMs"> {
  /** Default: LangGraph's own. */
  readonly serde?: BaseCheckpointSaver["serde"];
}

const OPTIONS: OptionKinds<VerbatimSaverOptions> = {
  root: "text",
  remember: "boolean",
  durability: "any",
  sign: "any",
  lockWaitMs: "count",
  serde: "object",
};
const DOOR = "langgraph";
/** MemorySaver refuses these names, with which a log could no longer be read. */
const REFUSED_NAMES: readonly string[] = ["__proto__", "constructor", "prototype"];

export class VerbatimSaver extends BaseCheckpointSaver {
  readonly #store: Store;
  readonly #pool: SessionPool;
  /** What was read of the sessions in the pool. */
  readonly #threads = new WeakMap<Session, Thread>();

  constructor(options: VerbatimSaverOptions = {}) {
    checkOptions("VerbatimSaver", options, OPTIONS);
    const { serde, ...storeOptions } = options;
    super(serde);
    this.#store = new Store(nodeHost, {
      dialect: provideDialect(sdk),
      mode: "shared",
      ...storeOptions,
    });
    this.#pool = new SessionPool((id) => this.#store.session(id));
  }

  /** The name of a thread in `verbatim` and the rest of this package. */
  sessionName(threadId: string): string {
    if (typeof threadId !== "string") throw badArgument("thread_id", "is a text");
    return `${DOOR}/${threadId}`;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { threadId, ns, checkpointId } = placeIn("getTuple", config);
    if (threadId === undefined) return undefined;
    const place = configOf(threadId, ns, checkpointId);
    return this.#use(threadId, ({ memory }) => memory.getTuple(place));
  }

  override async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { threadId } = placeIn("list", config);
    checkData("list", options, "options");
    if (options.before) placeIn("list", options.before);
    let { limit = Number.POSITIVE_INFINITY } = options;
    for (const thread_id of threadId === undefined ? await this.#threadIds() : [threadId]) {
      if (limit <= 0) return;
      const memory = await this.#use(thread_id, (thread) => thread.memory);
      const place = { configurable: { ...config.configurable, thread_id } };
      for await (const tuple of memory.list(place, { ...options, limit })) {
        limit--;
        yield tuple;
      }
    }
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: Checkpoint["channel_versions"],
  ): Promise<RunnableConfig> {
    const { threadId, ns, checkpointId: before } = placeIn("put", config, true);
    checkData("put", checkpoint, "checkpoint");
    checkData("put", checkpoint.channel_values, "channel values");
    checkData("put", metadata, "metadata");
    checkData("put", newVersions, "new versions");
    const { channel_values, ...others } = checkpoint;
    const id = filledName("put", "a checkpoint with an id", checkpoint.id);
    await this.#use(threadId, async (thread, session) => {
      const lines: Native[] = [];
      const values: Record<string, object> = {};
      for (const [channel, version] of Object.entries(newVersions)) {
        if (!Object.hasOwn(channel_values, channel)) continue;
        const packed = await thread.pack(channel_values[channel]);
        values[channel] = { version, ...thread.stored(channel, packed, lines) };
      }
      const [saved, meta] = [await thread.pack(others), await thread.pack(metadata)];
      const place = { ns, checkpoint: id, ...(before !== undefined && { before }) };
      lines.push({ type: "snapshot", ...place, saved, meta, values });
      for (const group of inGroups(lines)) await session.appendLines(group);
    });
    return configOf(threadId, ns, id);
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
  ): Promise<void> {
    const { threadId, ns, checkpointId } = placeIn("putWrites", config, true);
    const checkpoint = filledName("putWrites", "a config with a checkpoint_id", checkpointId);
    const task = filledName("putWrites", "a task's id", taskId);
    if (!Array.isArray(writes)) throw badArgument("putWrites", "takes its writes as a list");
    if (writes.length === 0) return;
    await this.#use(threadId, async (thread, session) => {
      const packed = writes.map(async ([channel, value]) => [channel, await thread.pack(value)]);
      const line = { type: "writes", ns, checkpoint, task, writes: await Promise.all(packed) };
      await session.appendLines([line]);
    });
  }

  /** Nothing of the thread is returned any more; its log keeps it. */
  override async deleteThread(threadId: string): Promise<void> {
    await this.#use(threadId, async ({ isEmpty }, session) => {
      if (!isEmpty) await session.appendLines([{ type: "clear" }]);
    });
  }

  /** Closes all logs. Not needed for durability. */
  async close(): Promise<void> {
    await this.#pool.close();
    await this.#store.close();
  }

  /** Runs `use` on a thread as its log has it now. */
  #use<T>(threadId: string, use: (thread: Thread, session: Session) => T | Promise<T>): Promise<T> {
    return this.#pool.with(this.sessionName(threadId), async (session) => {
      const thread = this.#threads.get(session) ?? new Thread(threadId, this.serde);
      this.#threads.set(session, thread);
      await thread.read(session);
      return use(thread, session);
    });
  }

  async #threadIds(): Promise<string[]> {
    const ids = (await this.#store.list()).map(({ id }) => id);
    const ofDoor = ids.filter((id) => id.startsWith(`${DOOR}/`));
    return ofDoor.map((id) => id.slice(DOOR.length + 1)).sort();
  }
}

function configOf(threadId: string, ns: string, checkpointId: string | undefined): RunnableConfig {
  const names = { thread_id: threadId, checkpoint_ns: ns };
  return { configurable: { ...names, ...(checkpointId && { checkpoint_id: checkpointId }) } };
}

interface Place<ThreadId = string> {
  readonly threadId: ThreadId;
  readonly ns: string;
  readonly checkpointId: string | undefined;
}

function placeIn(of: string, config: RunnableConfig): Place<string | undefined>;
function placeIn(of: string, config: RunnableConfig, hasThread: true): Place;
function placeIn(of: string, config: RunnableConfig, hasThread = false): Place<unknown> {
  checkData(of, config, "config");
  const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable ?? {};
  if (![thread_id, checkpoint_ns, checkpoint_id].every((name = "") => isName(name))) {
    throw badArgument(of, "takes thread_id, checkpoint_ns and checkpoint_id as texts");
  }
  if (hasThread) filledName(of, "a config with a thread_id", thread_id);
  const checkpointId = checkpoint_id || undefined;
  return { threadId: thread_id || undefined, ns: checkpoint_ns ?? "", checkpointId };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && !REFUSED_NAMES.includes(value);
}

function filledName(of: string, what: string, value: unknown): string {
  if (!isName(value) || value === "") throw badArgument(of, `takes ${what}`);
  return value;
}
