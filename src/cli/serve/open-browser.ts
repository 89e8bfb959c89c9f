/** Open browser: opens a page in the user's browser, with the system's opener. */

import { spawn } from "node:child_process";

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
