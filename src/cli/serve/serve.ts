/** `verbatim serve`: the viewer, the API and the Durable Streams protocol, until interrupted. */

import { once } from "node:events";
import { resolve } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import {
  type Io,
  type Run,
  textOption,
  textOptions,
  UsageError,
  wholeNumber,
} from "../command/command.ts";
import { accessSettings } from "./server-access.ts";

const PORT_MAX = 65_535;
const TIMEOUT_MS_MAX = 600_000;
const BODY_BYTES_MAX = 1024 * 1024 * 1024;

export async function runServe({ options, io }: Run): Promise<number> {
  const checked = textOption("--check", options.check);
  if (checked !== undefined) {
    const { checkData } = await import("./check-data.ts");
    return checkData(checked, options.json === true, io);
  }
  if (options.json === true) throw new UsageError("--json needs --check");
  const port = wholeNumber("--port", options.port, 0, PORT_MAX);
  const timeout = options.longPollTimeout;
  const longPollTimeoutMs = wholeNumber("--long-poll-timeout", timeout, 1, TIMEOUT_MS_MAX);
  const bodyBytesMax = wholeNumber("--max-body", options.maxBody, 1, BODY_BYTES_MAX);
  const host = textOption("--host", options.host);
  const roots = textOptions("--root", options.root) ?? "found";
  const access = accessSettings(options);
  const logPath = textOption("--request-log", options.requestLog);
  const { dataDirectory } = await import("../../core/base/node-paths.ts");
  const directory = resolve(textOption("--data", options.data) ?? dataDirectory());
  const { RequestLog } = await import("./request-log.ts");
  const onLogFault = (cause: unknown) => io.err(`fault: the request log: ${faultText(cause)}`);
  const database = await databaseOf(options);
  const log = logPath === undefined ? null : await RequestLog.open(logPath, onLogFault);
  const witness = textOption("--witness", options.witness);
  const { startHere, welcome } = await import("./server-start.ts");
  const data = options.data === undefined ? "" : ` --data ${directory}`;
  const server = await startHere(data, {
    dataDirectory: directory,
    ...database,
    port,
    longPollTimeoutMs,
    bodyBytesMax,
    roots,
    demo: roots === "found",
    sign: options.sign === true,
    allowLocalWebhooks: options.allowLocalWebhooks === true,
    ...(witness === undefined ? {} : { witness: resolve(witness) }),
    ...access,
    ...(host === undefined ? {} : { host }),
    ...(log === null ? {} : { onRequest: (record) => log.write(record) }),
    onNote: (note) => io.err(`note: ${note}`),
    onFault: (what, cause) => io.err(`fault: ${what}: ${faultText(cause)}`),
  });
  const signal = io.interruption();
  welcome(io, server, { host, store: database.store, directory, data });
  if (options.open === true) {
    const { openInBrowser } = await import("./open.ts");
    void openInBrowser(server.newLink() ?? server.url).then((why) => {
      if (why !== null) io.err(`no browser was opened: ${why}`);
    });
  }
  const guarding = await tidyAndGuard(options.guard === true, signal, io);
  if (!signal.aborted) await once(signal, "abort");
  io.err("stopping: finishing open requests");
  await guarding?.ended;
  await server.close();
  await log?.close();
  return 0;
}

/** A guard that cannot run is reported, and the server runs without it. */
async function tidyAndGuard(
  isGuarding: boolean,
  signal: AbortSignal,
  io: Io,
): Promise<{ ended: Promise<void> } | null> {
  const { emptyDueTrash } = await import("../keep/due-trash.ts");
  await emptyDueTrash(io);
  if (!isGuarding) return null;
  const { guardInside } = await import("../keep/guard.ts");
  const ended = guardInside(signal, io).catch((cause: unknown) => {
    io.err(`fault: the guard ended: ${cause instanceof Error ? cause.message : String(cause)}`);
  });
  return { ended };
}

async function databaseOf(options: Run["options"]) {
  const store = textOption("--store", options.store);
  const level = textOption("--durability", options.durability);
  const { statementTimeout, connectTimeout } = options;
  if (store === undefined) {
    const needing = { "--durability": level, "--statement-timeout": statementTimeout };
    for (const [flag, value] of Object.entries({
      ...needing,
      "--connect-timeout": connectTimeout,
    })) {
      if (value !== undefined) throw new UsageError(`${flag} needs --store`);
    }
    return {};
  }
  const { databaseUrl } = await import("./copies.ts");
  const { DURABILITIES } = await import("../../streams/postgres/store-options.ts");
  const durability = DURABILITIES.find((each) => each === (level ?? "disk"));
  if (durability === undefined) {
    throw new UsageError(`--durability must be ${DURABILITIES.join(", ")}`);
  }
  return {
    store: databaseUrl("--store", store),
    durability,
    statementMs: wholeNumber("--statement-timeout", statementTimeout ?? "5000", 1, TIMEOUT_MS_MAX),
    connectMs: wholeNumber("--connect-timeout", connectTimeout ?? "5000", 1, TIMEOUT_MS_MAX),
  };
}

/** A stack is for faults of the program; what a disk or a database refuses needs none. */
export function faultText(cause: unknown): string {
  if (cause instanceof VerbatimError) return `${cause.message} (${cause.code})`;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
