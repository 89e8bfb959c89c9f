/** `verbatim open`: the viewer of the running server, in the user's browser. */

import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Run, textOption } from "../command/command.ts";

/** Some openers run as long as the browser does. */
const OPENER_MS = 3000;

export async function runOpen({ options, io }: Run): Promise<number> {
  const { dataDirectory } = await import("../../core/base/node-paths.ts");
  const directory = resolve(textOption("--data", options.data) ?? dataDirectory());
  const { isServed, newLink, readServedViewer } = await import("../../server/auth/browser-keys.ts");
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const viewer = (await isServed(nodeHost, directory)) ? readServedViewer(directory) : null;
  if (viewer === null) {
    io.err(
      `no server with private sessions runs on ${directory}; start one with \`verbatim serve\`, ` +
        "or name its directory with --data",
    );
    return 1;
  }
  const link = newLink(viewer, Date.now());
  if (options.print === true) {
    io.out(link);
    return 0;
  }
  const why = await Promise.race([openInBrowser(link), sleep(OPENER_MS, null)]);
  if (why === null) return 0;
  io.err(`no browser was opened: ${why}`);
  return 1;
}

/** Resolves with the reason if no browser was opened, otherwise null. Does not delay the exit. */
export function openInBrowser(url: string): Promise<string | null> {
  const opener = process.platform === "darwin" ? "open" : "xdg-open";
  // Detached: a browser started this way outlives the server.
  const child = spawn(opener, [url], { stdio: "ignore", detached: true });
  child.unref();
  return new Promise((resolve) => {
    child.once("error", () => resolve(`${opener} is not installed; open ${url} yourself`));
    child.once("exit", (code) => {
      resolve(code === 0 ? null : `${opener} failed; open ${url} yourself`);
    });
  });
}
