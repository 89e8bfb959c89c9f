/** `verbatim record`: appends entries from any program, as JSON lines on stdin, each durably. */

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { nodeHost } from "../../core/base/node-host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import type { Durability } from "../../core/log/log-options.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import type { RecordedSession, RecordOption } from "../../dialects/facets/writing.ts";
import { DEFAULT_DIALECT } from "../../dialects/registry.ts";
import type { Session } from "../../sessions/store/session.ts";
import type { Follower, Store, StoreOptions } from "../../sessions/store/store.ts";
import { Heads } from "../../trust/heads/heads.ts";
import { rootNames } from "../../trust/heads/session-head.ts";
import { hasSidecar } from "../../trust/proof/envelopes.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import { type Io, type Run, textOption, UsageError } from "../command/command.ts";
import { RECORD_OPTIONS, RECORD_SOURCES } from "./dialect-options.ts";
import type { OnError, RecordOutcome } from "./record-input.ts";
import type { SseSource } from "./sse-recording.ts";

const EXIT: Readonly<Record<RecordOutcome, number>> = { recorded: 0, malformed: 2, failed: 7 };

export async function runRecord(run: Run): Promise<number> {
  const { options, io } = run;
  const { from } = options;
  const source = RECORD_SOURCES.find(({ names }) => names.some((each) => each === from));
  const to = textOption("--to", options.to);
  if (source !== undefined && to !== undefined) {
    throw new UsageError(
      `--to has no meaning with --from ${from}: \`verbatim guard send\` sends those`,
    );
  }
  if (source !== undefined) return source.record(String(from), run);
  refuseSourceOptions(options);
  if (from !== undefined) refuseLineOptions(options);
  if (options.onError === "report" && options.ack !== true) {
    throw new UsageError("--on-error report needs --ack: it reports among the acknowledgments");
  }
  const asked = await askedFor(options);
  const { input } = io; // Before anything is created: refuse unreadable input.
  const sending = to === undefined ? null : await openSending(to, io);
  const store = await openStore(asked, io, sending?.follower ?? null);
  const { session, isNew } = await openSession(store, asked);
  const writer = await session.openToAppend();
  const isAcknowledging = options.ack === true;
  const start =
    writer.end === 0 ? (dialectNamed(asked.dialect).writing?.recording?.start ?? null) : null;
  const signal = io.interruption();
  io.out(JSON.stringify({ session: session.id, path: session.path }));
  if (writer.end > 0 && options.sign === undefined) await warnIfSigned(store, session, io);
  let isEmpty = false;
  try {
    if (from !== undefined) {
      const { recordResponses } = await import("./sse-recording.ts");
      const sse = { from: from as SseSource, input, signal, isAcknowledging, start, io };
      return EXIT[await recordResponses(session, sse)];
    }
    if (input.isTTY) io.err("reading entries, one JSON object per line; Ctrl-D ends");
    const { LOG_LIMITS } = await import("../../core/base/limits.ts");
    const { InputLines } = await import("./input-lines.ts");
    const { recordInput } = await import("./record-input.ts");
    const outcome = await recordInput(session, {
      input: new InputLines(input, { lineBytesMax: LOG_LIMITS.lineBytesMax, signal }),
      onError: options.onError as OnError,
      isAcknowledging,
      start,
      io,
    });
    return EXIT[outcome];
  } finally {
    // Of a shared session, another process may have the log open.
    if (isNew && options.shared !== true && writer.end === 0)
      isEmpty = (await import("./record-input.ts")).removeEmptyLog(session.path);
    await store.close();
    if (isEmpty) await tellEmpty(session, io);
    await sending?.tell();
  }
}

/** The session was named on stdout, so stderr says that it is gone. */
async function tellEmpty({ id, path, dialect }: Session, io: Io): Promise<void> {
  const names = (await dialect.files?.load?.())?.derived?.names;
  const { removeEmptyDirectory } = await import("./record-input.ts");
  // Only dialects with derived files have a directory for each session.
  if (names) removeEmptyDirectory(dirname(path), names);
  io.err(`no entry was recorded, so there is no session ${id}`);
}

async function warnIfSigned(store: Store, session: Session, io: Io): Promise<void> {
  if (!(await isSignedSoFar(store, session))) return;
  io.err("warning: this session is signed so far; add --sign, or its new lines stay unsigned");
}

/** Loaded only on request: it needs the network. */
async function openSending(to: string, io: Io) {
  const { openSender, tellLeft } = await import("../keep/send.ts");
  const { followerOf } = await import("../../guard/remote/delivery/sender.ts");
  const sender = await openSender(to, io);
  sender.sendOthers();
  const follower = followerOf(sender, (warning) => io.err(`warning: ${warning}`));
  return { follower, tell: async () => tellLeft(await sender.close(), to, io) };
}

interface RecordTarget {
  readonly dialect: string;
  readonly root: string | undefined;
  readonly sessionId: string | undefined;
  /** The options that only this dialect has, by name. */
  readonly own: Readonly<Record<string, string | undefined>>;
  readonly storeOptions: StoreOptions;
}

async function askedFor(options: Run["options"]): Promise<RecordTarget> {
  const dialect = typeof options.dialect === "string" ? options.dialect : DEFAULT_DIALECT;
  const own: Record<string, string | undefined> = {};
  for (const { dialect: owner, option } of RECORD_OPTIONS) {
    const value = givenTo(option, options);
    if (value === undefined) continue;
    // An option that would have no effect is an error.
    if (owner !== dialect) {
      throw new UsageError(`${flagOf(option)} is only for ${owner}, not for ${dialect}`);
    }
    own[option.name] = value;
  }
  await loadDialects([dialect]);
  return {
    dialect,
    root: textOption("--root", options.root),
    sessionId: textOption("--session", options.session),
    own,
    storeOptions: {
      durability: options.durability as Durability,
      sign: (options.sign ?? false) as boolean | "turn" | "append",
      mode: options.shared === true ? "shared" : "exclusive",
      ...dialectNamed(dialect).writing?.recording?.storeOptions?.(own),
    },
  };
}

/** `no` for a given `--no-…` switch. */
function givenTo(option: RecordOption, options: Run["options"]): string | undefined {
  const value = options[option.name];
  if (option.flags.startsWith("--no-")) return value === false ? "no" : undefined;
  return textOption(flagOf(option), value);
}

function flagOf({ flags }: RecordOption): string {
  return flags.split(" ")[0] ?? flags;
}

/** Refuses options that only another source takes. */
function refuseSourceOptions(options: Run["options"]): void {
  for (const { names, options: own } of RECORD_SOURCES) {
    const flag = own
      .map(({ flags }) => flags.split(" ")[0] ?? "")
      .find((each) => {
        return options[each.replace("--", "")] !== undefined;
      });
    if (flag === undefined) continue;
    throw new UsageError(`${flag} has no meaning without --from ${names.join(" or ")}`);
  }
}

/** Refuses options that need lines of entries on stdin. */
function refuseLineOptions(options: Run["options"]): void {
  if (options.onError !== "stop") {
    throw new UsageError("--on-error has no meaning with --from: each response is kept as it came");
  }
}

async function openStore(
  { dialect, root, storeOptions }: RecordTarget,
  io: Io,
  follower: Follower | null,
): Promise<Store> {
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { Store } = await import("../../sessions/store/store.ts");
  const options = {
    dialect,
    ...(root === undefined ? {} : { root }),
    ...storeOptions,
    onWarning: (warning: string) => io.err(`warning: ${warning}`),
  };
  return Store.open(nodeHost, options, follower);
}

async function openSession(
  store: Store,
  { dialect, own, sessionId }: RecordTarget,
): Promise<{ readonly session: Session; readonly isNew: boolean }> {
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const given = { ...own, session: sessionId };
  const found: RecordedSession =
    (await dialectNamed(dialect).writing?.recording?.session?.(given, {
      host: nodeHost,
      root: store.root,
    })) ?? (sessionId === undefined ? { isNew: true } : { id: sessionId });
  if ("missing" in found) throw new UsageError(found.missing);
  const agent = found.agent === undefined ? {} : { agent: found.agent };
  if (!("id" in found)) {
    return { session: await store.create({ wait: true, ...agent }), isNew: true };
  }
  const session = store.session(found.id, agent);
  return { session, isNew: !existsSync(session.path) };
}

/** By its checkpoints, or its pinned head. Verifies nothing. */
export async function isSignedSoFar({ dialect, root }: Store, session: Session): Promise<boolean> {
  if (hasSidecar(dialect) && existsSync(sidecarOf(session.path))) return true;
  const { stateDirectory } = userPaths();
  const heads = new Heads({ host: nodeHost, stateDirectory, onWarning: () => {} });
  const { place } = await rootNames(nodeHost, { dialect, root });
  return (await heads.lookup({ place, id: session.id, log: null })).found !== null;
}
