/**
 * VerbatimSaver: a checkpointer of LangGraph whose threads are append-only logs, one for each.
 *
 * - When `put` or `putWrites` resolves, what it was given is durable. Nothing is erased: deleting a
 *   thread is a line of its log.
 * - Several processes may use one thread at once: each call first reads the lines that came since.
 * - A value is in the log once, however many checkpoints have it (thread-state.ts).
 */

import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  maxChannelVersion,
  type PendingWrite,
  TASKS,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import { badArgument, checkData, checkOptions, type OptionKinds } from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { START } from "../../core/base/offset.ts";
import type { Native } from "../../core/model/entry.ts";
import { provideDialect } from "../../dialects/all.ts";
import { sdk } from "../../dialects/verbatim/sdk-dialect.ts";
import { SessionPool } from "../../sessions/store/pool.ts";
import { Store, type StoreOptions } from "../../sessions/store/store.ts";
import { inGroups } from "../history/history.ts";
import { type Packed, type Snapshot, ThreadState } from "./thread-state.ts";

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
/** What was read of the threads that were used last. */
const THREADS_MAX = 64;
/** Older checkpoints keep what is to be sent next with their parent. */
const SENDS_IN_CHANNELS = 4;

export class VerbatimSaver extends BaseCheckpointSaver {
  readonly #store: Store;
  readonly #pool: SessionPool;
  /** The least recently used first. */
  readonly #states = new Map<string, Promise<ThreadState>>();

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
    const state = await this.#read(threadId);
    const snapshot =
      checkpointId === undefined ? state.newestFirst(ns)[0] : state.snapshot(ns, checkpointId);
    return snapshot && this.#tuple(state, { threadId, ns }, snapshot);
  }

  override async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { threadId, checkpointId } = placeIn("list", config);
    checkData("list", options, "options");
    const only: unknown = config.configurable?.checkpoint_ns;
    const before = options.before && placeIn("list", options.before).checkpointId;
    const filter = Object.entries(options.filter ?? {});
    let { limit = Number.POSITIVE_INFINITY } = options;
    for (const thread of threadId === undefined ? await this.#threads() : [threadId]) {
      const state = await this.#read(thread);
      for (const ns of state.namespaces) {
        if (only !== undefined && ns !== only) continue;
        for (const snapshot of state.newestFirst(ns)) {
          if (checkpointId !== undefined && snapshot.checkpoint !== checkpointId) continue;
          if (before !== undefined && snapshot.checkpoint >= before) continue;
          const metadata = (await this.#unpack(snapshot.meta)) as Record<string, unknown>;
          if (!filter.every(([key, value]) => metadata[key] === value)) continue;
          if (limit-- <= 0) return;
          yield this.#tuple(state, { threadId: thread, ns }, snapshot);
        }
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
    checkData("put", metadata, "metadata");
    checkData("put", newVersions, "new versions");
    const { channel_values, ...others } = checkpoint;
    const [saved, meta] = [await this.#pack(others), await this.#pack(metadata)];
    const changed = Object.keys(newVersions).filter((name) => Object.hasOwn(channel_values, name));
    const packed = await Promise.all(changed.map((name) => this.#pack(channel_values[name])));
    const state = await this.#read(threadId);
    const lines: Native[] = [];
    const values = changed.map((name, at) => {
      const stored = state.stored(name, packed[at] as Packed, lines);
      return [name, { version: newVersions[name], ...stored }];
    });
    const place = { ns, checkpoint: checkpoint.id, ...(before !== undefined && { before }) };
    const snapshot = { ...place, saved, meta, values: Object.fromEntries(values) };
    await this.#append(threadId, [...lines, { type: "snapshot", ...snapshot }]);
    return configOf({ threadId, ns }, checkpoint.id);
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
  ): Promise<void> {
    const { threadId, ns, checkpointId } = placeIn("putWrites", config, true);
    if (checkpointId === undefined) {
      throw badArgument("putWrites", "takes a config with a checkpoint_id");
    }
    if (!Array.isArray(writes)) throw badArgument("putWrites", "takes its writes as a list");
    if (typeof taskId !== "string") throw badArgument("putWrites", "takes a task's id as a text");
    if (writes.length === 0) return;
    const saved = writes.map(async ([channel, value], at) => {
      return [WRITES_IDX_MAP[channel] ?? at, channel, await this.#pack(value)];
    });
    const place = { ns, checkpoint: checkpointId, task: taskId };
    await this.#append(threadId, [{ type: "writes", ...place, writes: await Promise.all(saved) }]);
  }

  /** Nothing of the thread is returned any more; its log keeps it. */
  override async deleteThread(threadId: string): Promise<void> {
    if ((await this.#read(threadId)).isEmpty) return;
    await this.#append(threadId, [{ type: "clear" }]);
  }

  /** Closes all logs. Not needed for durability. */
  async close(): Promise<void> {
    await this.#pool.close();
    await this.#store.close();
  }

  async #append(threadId: string, lines: readonly Native[]): Promise<void> {
    await this.#pool.with(this.sessionName(threadId), async (session) => {
      for (const group of inGroups(lines)) await session.appendLines(group);
    });
  }

  async #threads(): Promise<string[]> {
    const ids = (await this.#store.list()).map(({ id }) => id);
    return ids
      .filter((id) => id.startsWith(`${DOOR}/`))
      .map((id) => id.slice(DOOR.length + 1))
      .sort();
  }

  /** The state of a thread after the last line of its log. */
  #read(threadId: string): Promise<ThreadState> {
    const id = this.sessionName(threadId);
    const before = this.#states.get(id) ?? Promise.resolve(new ThreadState());
    const state = before.then((known) => this.#continued(id, known));
    this.#states.delete(id);
    this.#states.set(id, state);
    const drop = () => this.#states.get(id) === state && this.#states.delete(id);
    state.catch(drop); // The next reading begins again.
    for (const [oldest] of this.#states) {
      if (this.#states.size <= THREADS_MAX) break;
      this.#states.delete(oldest);
    }
    return state;
  }

  async #continued(id: string, state: ThreadState): Promise<ThreadState> {
    const session = this.#store.session(id);
    try {
      for await (const { native, end } of session.entries({ from: state.end })) {
        state.add(native);
        state.end = end;
      }
      return state;
    } catch (cause) {
      if (!(cause instanceof VerbatimError) || cause.code !== "LOG_NOT_FOUND") throw cause;
      return state.end === START ? state : new ThreadState();
    } finally {
      await session.release();
    }
  }

  async #tuple(
    state: ThreadState,
    thread: ThreadPlace,
    snapshot: Snapshot,
  ): Promise<CheckpointTuple> {
    const { checkpoint: id, before } = snapshot;
    const checkpoint = (await this.#unpack(snapshot.saved)) as Checkpoint;
    const stored = Object.entries(checkpoint.channel_versions).flatMap(([channel, version]) => {
      const value = state.value(thread.ns, snapshot, channel, version);
      return value === null ? [] : [[channel, value] as const];
    });
    const values = stored.map(async ([channel, value]) => [channel, await this.#unpack(value)]);
    checkpoint.channel_values = Object.fromEntries(await Promise.all(values));
    if (checkpoint.v < SENDS_IN_CHANNELS && before !== undefined) {
      await this.#addSends(checkpoint, state, thread.ns, before);
    }
    const writes = state.writes(thread.ns, id).map(async ({ task, channel, saved }) => {
      return [task, channel, await this.#unpack(saved)] as [string, string, unknown];
    });
    return {
      config: configOf(thread, id),
      checkpoint,
      metadata: (await this.#unpack(snapshot.meta)) as CheckpointMetadata,
      pendingWrites: await Promise.all(writes),
      ...(before !== undefined && { parentConfig: configOf(thread, before) }),
    };
  }

  /** What older versions of LangGraph kept as writes of the parent, as the channel that it is now. */
  async #addSends(
    checkpoint: Checkpoint,
    state: ThreadState,
    ns: string,
    parent: string,
  ): Promise<void> {
    const sends = state.writes(ns, parent).filter(({ channel }) => channel === TASKS);
    checkpoint.channel_values[TASKS] = await Promise.all(
      sends.map(({ saved }) => this.#unpack(saved)),
    );
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(0);
  }

  async #pack(value: unknown): Promise<Packed> {
    const [as, bytes] = await this.serde.dumpsTyped(value);
    if (as === "json") return { json: JSON.parse(new TextDecoder().decode(bytes)) };
    return { as, base64: Buffer.from(bytes).toString("base64") };
  }

  #unpack(packed: Packed): Promise<unknown> {
    if ("json" in packed) return this.serde.loadsTyped("json", JSON.stringify(packed.json));
    return this.serde.loadsTyped(packed.as, new Uint8Array(Buffer.from(packed.base64, "base64")));
  }
}

interface ThreadPlace {
  readonly threadId: string;
  readonly ns: string;
}

function configOf({ threadId, ns }: ThreadPlace, checkpointId: string): RunnableConfig {
  const names = { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: checkpointId };
  return { configurable: names };
}

interface ConfigPlace<Thread = string> {
  readonly threadId: Thread;
  readonly ns: string;
  readonly checkpointId: string | undefined;
}

function placeIn(of: string, config: RunnableConfig): ConfigPlace<string | undefined>;
function placeIn(of: string, config: RunnableConfig, isThread: true): ConfigPlace;
function placeIn(of: string, config: RunnableConfig, isThread = false): ConfigPlace<unknown> {
  checkData(of, config, "config");
  const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable ?? {};
  const isText = (value: unknown) => value === undefined || typeof value === "string";
  if (![thread_id, checkpoint_ns, checkpoint_id].every(isText)) {
    throw badArgument(of, "takes thread_id, checkpoint_ns and checkpoint_id as texts");
  }
  if (isThread && !thread_id) throw badArgument(of, "takes a config with a thread_id");
  const checkpointId = checkpoint_id || undefined;
  return { threadId: thread_id || undefined, ns: checkpoint_ns ?? "", checkpointId };
}
