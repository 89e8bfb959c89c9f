/** `verbatim record`: entries from any program, as JSON lines on stdin, each one durable append. */

import { VerbatimError } from "../../base/errors.ts";
import { HOOK_SOURCES, type HookSource } from "../../dialects/claude/hook-spool.ts";
import type { DialectName } from "../../dialects/dialect.ts";
import type { Durability } from "../../log/log-options.ts";
import { DIALECT_NAMES } from "../../model/dialect-names.ts";
import type { Session } from "../../store/session.ts";
import type { Store, StoreOptions } from "../../store/store.ts";
import {
  type CliCommand,
  type Io,
  type Run,
  textOption,
  UsageError,
  wholeNumber,
} from "../command.ts";
import type { HookOptions } from "./hook.ts";
import { WITHIN_MS, WITHIN_MS_LEAST, WITHIN_MS_MOST } from "./hook-arguments.ts";
import type { Outcome } from "./recording.ts";
import type { SseSource } from "./sse-recording.ts";

const EXIT: Readonly<Record<Outcome, number>> = { recorded: 0, malformed: 2, failed: 7 };

export const record: CliCommand = {
  name: "record",
  summary: "Record JSON lines from stdin as entries, each in one durable append",
  options: [
    {
      flags: "--dialect <name>",
      summary: "the on-disk layout, and the shape of the entries; default: our own",
      choices: DIALECT_NAMES,
    },
    {
      flags: "--from <source>",
      summary: "format of stdin: a provider's event streams, or the JSON an agent sends to a hook",
      choices: ["anthropic-sse", "openai-sse", ...HOOK_SOURCES],
    },
    {
      flags: "--within <ms>",
      summary: "hooks: give up after this many milliseconds; default: 10000",
    },
    {
      flags: "--directive <name>",
      summary: "rye: name of the directive; part of a new session id",
    },
    { flags: "--agent <id>", summary: "homeagent: id of the agent" },
    { flags: "--model <name>", summary: "entire: model name for rows that have none" },
    {
      flags: "--agent-version <version>",
      summary: "entire: version of the recording program, for rows that have none",
    },
    { flags: "--session <id>", summary: "session to continue or create; default: a new one" },
    {
      flags: "--root <dir>",
      summary: "the project, default: current directory; homeagent: its base",
    },
    {
      flags: "--durability <level>",
      summary: "when an entry counts as recorded: synced to disk, or written to the OS",
      choices: ["disk", "os"],
      default: "disk",
    },
    {
      flags: "--envelope <shape>",
      summary: "rye: the shape of a new thread's lines",
      choices: ["flat", "payload"],
    },
    { flags: "--no-markdown", summary: "rye: write no transcript.md" },
    {
      flags: "--sign [when]",
      summary: "sign the session after each turn, or after each append",
      choices: ["turn", "append"],
    },
    { flags: "--ack", summary: 'print {"offset":N} for each entry once it is durable' },
    {
      flags: "--on-error <action>",
      summary: "on a malformed line: stop with exit code 2, or skip it",
      choices: ["stop", "skip"],
      default: "stop",
    },
  ],
  examples: [
    "my-agent | verbatim record",
    `echo '{"kind":"message","role":"user","parts":[{"type":"text","text":"hi"}]}' | verbatim record --ack`,
    "my-agent | verbatim record --dialect rye --directive hello_world",
    'echo \'{"type":"user_message","text":"hi"}\' | verbatim record --dialect rye --directive hi --ack',
    "my-agent | verbatim record --dialect homeagent --agent kitchen --session 2026-11-15",
    "my-agent | verbatim record --dialect entire --model claude-opus-4-5",
    "my-agent | verbatim record --dialect rye --session hello_world-1739012630 --on-error skip",
    "my-agent | verbatim record --dialect rye --directive deploy --sign",
    "curl -sN … | verbatim record --dialect entire --from anthropic-sse --session 2026-11-15-a",
    "verbatim record --from claude-code-hooks",
    "verbatim record --from codex-hooks --sign append",
  ],

  async run(run) {
    const { options, io } = run;
    const { from } = options;
    const source = HOOK_SOURCES.find((each) => each === from);
    if (source !== undefined) {
      const { recordHook } = await import("./hook.ts");
      return recordHook(
        () => hookOptionsOf(source, options),
        () => io.input,
      );
    }
    if (from !== undefined) refuseLineOptions(options);
    const asked = askedFor(options);
    const { input } = io; // Before anything is made: what cannot be read is refused.
    const store = await openStore(asked, io);
    const session = await OPENERS[asked.dialect](store, asked);
    const writer = await session.openToAppend();
    const isAcknowledging = options.ack === true;
    const start = asked.dialect === "rye" && writer.end === 0 ? THREAD_START : null;
    const signal = io.interruption();
    io.out(JSON.stringify({ session: session.id, path: session.path }));
    try {
      if (from !== undefined) {
        const { recordResponses } = await import("./sse-recording.ts");
        const sse = { from: from as SseSource, input, signal, isAcknowledging, start, io };
        return EXIT[await recordResponses(session, sse)];
      }
      if (input.isTTY) io.err("reading entries, one JSON object per line; Ctrl-D ends");
      const { LOG_LIMITS } = await import("../../base/limits.ts");
      const { InputLines } = await import("./input-lines.ts");
      const { recordInput } = await import("./recording.ts");
      const outcome = await recordInput(session, {
        input: new InputLines(input, { lineBytesMax: LOG_LIMITS.lineBytesMax, signal }),
        isSkipping: options.onError === "skip",
        isAcknowledging,
        start,
        io,
      });
      return EXIT[outcome];
    } finally {
      await store.close();
    }
  },
};

/** What is known of a thread whose first event is not its start. */
const THREAD_START = { type: "thread_start", inputs: {} };

interface Asked {
  readonly dialect: RecordedDialect;
  readonly root: string | undefined;
  readonly directive: string | undefined;
  readonly agent: string | undefined;
  readonly sessionId: string | undefined;
  readonly storeOptions: Partial<StoreOptions>;
}

function askedFor(options: Run["options"]): Asked {
  const { durability, envelope } = options;
  const dialect = (options.dialect ?? "verbatim") as RecordedDialect;
  const model = textOption("--model", options.model);
  const version = textOption("--agent-version", options.agentVersion);
  const asked: Asked = {
    dialect,
    root: textOption("--root", options.root),
    directive: textOption("--directive", options.directive),
    agent: textOption("--agent", options.agent),
    sessionId: textOption("--session", options.session),
    storeOptions: {
      durability: durability as Durability,
      ...(dialect === "rye" ? { markdown: options.markdown !== false } : {}),
      ...(envelope === undefined ? {} : { envelope: envelope as "flat" | "payload" }),
      ...(model === undefined ? {} : { model }),
      ...(version === undefined ? {} : { version }),
      sign: (options.sign ?? false) as boolean | "turn" | "append",
    },
  };
  if (dialect === "homeagent" && asked.agent === undefined) {
    throw new UsageError("homeagent needs --agent");
  }
  refuseOthers(dialect, { ...asked, envelope, model, "agent-version": version });
  return asked;
}

/** Which options are one dialect's own. */
const OWN_OPTIONS = {
  directive: "rye",
  envelope: "rye",
  agent: "homeagent",
  model: "entire",
  "agent-version": "entire",
} as const satisfies Readonly<Record<string, DialectName>>;

/** An option that would do nothing is a mistake. */
function refuseOthers(
  dialect: DialectName,
  given: Readonly<Record<keyof typeof OWN_OPTIONS, unknown>>,
): void {
  for (const [name, owner] of Object.entries(OWN_OPTIONS)) {
    if (owner === dialect || given[name as keyof typeof OWN_OPTIONS] === undefined) continue;
    throw new UsageError(`--${name} is only for ${owner}, not for ${dialect}`);
  }
}

/** What has no meaning for a hook: whose session it is, the hook says. */
const NOT_FOR_HOOKS = {
  dialect: "--dialect",
  directive: "--directive",
  agent: "--agent",
  model: "--model",
  agentVersion: "--agent-version",
  session: "--session",
  envelope: "--envelope",
  ack: "--ack",
} as const;

function hookOptionsOf(from: HookSource, options: Run["options"]): HookOptions {
  const [, other] = Object.entries(NOT_FOR_HOOKS).find(([name]) => options[name]) ?? [];
  if (other !== undefined) throw new UsageError(`${other} has no meaning with --from`);
  const { within = String(WITHIN_MS), sign = false } = options;
  return {
    from,
    root: textOption("--root", options.root),
    durability: options.durability === "os" ? "os" : "disk",
    sign: sign === false ? false : sign === "append" ? "append" : "turn",
    withinMs: wholeNumber("--within", within, WITHIN_MS_LEAST, WITHIN_MS_MOST),
  };
}

/** What has no meaning where stdin holds no lines of entries. */
function refuseLineOptions(options: Run["options"]): void {
  if (options.within !== undefined) {
    throw new UsageError("--within has no meaning without --from claude-code-hooks or codex-hooks");
  }
  if (options.onError === "skip") {
    throw new UsageError("--on-error has no meaning with --from: each response is kept as it came");
  }
}

async function openStore({ dialect, root, storeOptions }: Asked, io: Io): Promise<Store> {
  const { nodeHost } = await import("../../base/node-host.ts");
  const { Store } = await import("../../store/store.ts");
  return new Store(nodeHost, {
    dialect,
    ...(root === undefined ? {} : { root }),
    ...storeOptions,
    onWarning: (warning) => io.err(`warning: ${warning}`),
  });
}

async function openOwn(store: Store, { sessionId }: Asked): Promise<Session> {
  return sessionId === undefined ? store.create() : store.session(sessionId);
}

async function openTurns(store: Store, { agent = "", sessionId }: Asked): Promise<Session> {
  const { sessionIdOf } = await import("../../dialects/homeagent/session-id.ts");
  if (sessionId !== undefined) return store.session(sessionIdOf(agent, sessionId));
  const { randomUUID } = await import("node:crypto");
  return store.session(sessionIdOf(agent, randomUUID()));
}

async function openRows(store: Store, { sessionId }: Asked): Promise<Session> {
  const { newSessionId } = await import("../../dialects/entire/door/transcripts.ts");
  return store.session(sessionId ?? newSessionId());
}

/** Sessions of others' making, who say what they are called. */
async function openNamed(store: Store, { dialect, sessionId }: Asked): Promise<Session> {
  if (sessionId !== undefined) return store.session(sessionId);
  const first = dialect === "sdk" ? "door" : "project";
  throw new UsageError(`${dialect} needs --session: <${first}>/<session>`);
}

async function openThread(store: Store, { directive, sessionId }: Asked): Promise<Session> {
  if (sessionId === undefined) {
    if (directive === undefined) {
      throw new UsageError("rye needs --directive, or --session with an existing thread");
    }
    return store.create({ agent: directive, wait: true });
  }
  const known = directive ?? (await directiveOf(store, sessionId));
  if (known === null) {
    throw new UsageError(`the directive of ${sessionId} is unknown; give --directive`);
  }
  return store.session(sessionId, known);
}

/** Streams are appended to through their server. */
type RecordedDialect = Exclude<DialectName, "streams">;
type Opener = (store: Store, asked: Asked) => Promise<Session>;

const OPENERS: Readonly<Record<RecordedDialect, Opener>> = {
  verbatim: openOwn,
  rye: openThread,
  homeagent: openTurns,
  entire: openRows,
  claude: openNamed,
  sdk: openNamed,
};

/** The directive of a thread that is there, from its thread.json or its first event. */
async function directiveOf({ root }: Store, threadId: string): Promise<string | null> {
  const { nodeHost } = await import("../../base/node-host.ts");
  const { readStoredMeta, threadEvents } = await import("../../dialects/rye/files/thread-files.ts");
  const stored = (await readStoredMeta(nodeHost, root, threadId))?.directive;
  if (stored) return stored;
  try {
    for await (const { directive } of threadEvents(nodeHost, root, threadId)) {
      if (directive) return directive;
    }
  } catch (cause) {
    if (!(cause instanceof VerbatimError && cause.code === "LOG_NOT_FOUND")) throw cause;
  }
  return null;
}
