/** `verbatim open`: the viewer of the running server, in the user's browser. */

import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type CliCommand, textOption } from "../command/command.ts";

/** Some openers run as long as the browser does. */
const OPENER_MS = 3000;

export const open: CliCommand = {
  name: "open",
  summary: "Open the viewer of the running server in your browser, with a new one-time link",
  options: [
    {
      flags: "--data <directory>",
      summary: "the server's data directory; default: $XDG_DATA_HOME/verbatim",
    },
    { flags: "--print", summary: "print the link, and open no browser" },
  ],
  examples: ["verbatim open", "verbatim open --print"],

  async run({ options, io }) {
    const { dataDirectory } = await import("../../core/base/node-paths.ts");
    const directory = resolve(textOption("--data", options.data) ?? dataDirectory());
    const { isServed, newLink, readServedViewer } = await import(
      "../../server/auth/browser-keys.ts"
    );
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
    const { openInBrowser } = await import("./open-browser.ts");
    const why = await Promise.race([openInBrowser(link), sleep(OPENER_MS, null)]);
    if (why === null) return 0;
    io.err(`no browser was opened: ${why}`);
    return 1;
  },
};
