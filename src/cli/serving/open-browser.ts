/** Open browser: opens a page in the user's browser, with the system's opener. */

import { spawn } from "node:child_process";

/** Returns at once. `onFailure` receives the reason if no browser was opened. */
export function openInBrowser(url: string, onFailure: (why: string) => void): void {
  const opener = process.platform === "darwin" ? "open" : "xdg-open";
  // Detached: a browser started this way outlives the server.
  const child = spawn(opener, [url], { stdio: "ignore", detached: true });
  child.once("error", () => onFailure(`${opener} is not installed; open ${url} yourself`));
  child.once("exit", (code) => {
    if (code !== 0) onFailure(`${opener} failed; open ${url} yourself`);
  });
  child.unref();
}
