/** Server start: starts the server of `serve`, and prints how to use it. */

import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { isServed, readServedViewer } from "../../server/auth/browser-keys.ts";
import { HOST_DEFAULT, isOwnAddress, type RunningServer, startServer } from "../../server/serve.ts";
import type { ServeOptions } from "../../server/settings/serve-options.ts";
import { urlWithoutPassword } from "../../streams/postgres/store-options.ts";
import type { Io } from "../command/command.ts";

/** `data`: the option that other commands need too. */
export async function startHere(data: string, options: ServeOptions): Promise<RunningServer> {
  try {
    return await startServer(options);
  } catch (cause) {
    const { dataDirectory: path } = options;
    const url = readServedViewer(path)?.url;
    if (url === undefined || !isByServerAt(url, cause) || !(await isServed(nodeHost, path))) {
      throw cause;
    }
    throw new VerbatimError(
      "SERVER_RUNNING",
      `the server of ${path} already runs at ${url}; \`verbatim open${data}\` opens it`,
      { path, url },
      { cause },
    );
  }
}

/** Whether a server at `url` would be refused like this: it has the port, or the directory. */
function isByServerAt(url: string, cause: unknown): boolean {
  if (!(cause instanceof VerbatimError)) return false;
  if (cause.code === "LOG_LOCKED") return true;
  return "port" in cause.details && url.endsWith(`:${cause.details.port}`);
}

export interface StartedServer {
  readonly host: string | undefined;
  /** The database; undefined: streams are in the directory. */
  readonly store: string | undefined;
  readonly directory: string;
  readonly data: string;
}

export function welcome(io: Io, server: RunningServer, started: StartedServer): void {
  const { url, needsToken } = server;
  const { host = HOST_DEFAULT, store, directory, data } = started;
  const link = server.newLink();
  const create = `\`verbatim server token create${data}\``;
  const isLocal = isOwnAddress(host);
  io.out(`verbatim listens on ${url}`);
  if (link !== null) {
    io.out("open this link in a browser to read, watch and check your sessions; it works once,");
    io.out(`within an hour, and \`verbatim open${data}\` makes a new one:`);
    io.out(`  ${link}`);
  } else {
    io.out("open that in a browser to read, watch and check your sessions;");
    io.out(
      needsToken
        ? `it asks for a token of ${create}`
        : "every user of this machine can, until you create a token",
    );
  }
  if (!isLocal) io.out(`others can reach it on ${host}, with a token`);
  io.out(`streams are kept in ${store === undefined ? directory : urlWithoutPassword(store)}`);
  tryOut(io, `${url}/v1/stream/chat/1`, needsToken ? create : null);
  const by = link === null && !needsToken ? "" : `, with a token of ${create}`;
  io.out(`programs read sessions at ${url}/v1/sessions${by}`);
  if (server.witnessKey !== null) {
    io.out(`it is a witness at ${url}/witness, with the key ${server.witnessKey}`);
  }
  if (!isLocal && !url.startsWith("https:")) {
    io.err("warning: tokens travel unencrypted; give --tls-key and --tls-cert, or use a proxy");
  }
}

/** `create`: the command that makes a token, if one is needed. */
function tryOut(io: Io, stream: string, create: string | null): void {
  const token = create === null ? "" : ` -H "Authorization: Bearer $TOKEN"`;
  io.out(create === null ? "try:" : `try, with a token of ${create} in TOKEN:`);
  io.out(`  curl -X PUT ${stream} -H 'Content-Type: application/json'${token}`);
  io.out(
    `  curl -X POST ${stream} -H 'Content-Type: application/json'${token} -d '{"hello":"world"}'`,
  );
  io.out(`  curl -N '${stream}?offset=-1&live=sse'${token}`);
}
