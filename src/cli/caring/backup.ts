/** `verbatim backup`: copies a server's data directory while the server runs. */

import { resolve } from "node:path";
import { type CliCommand, textOption } from "../../command/command.ts";

export const backup: CliCommand = {
  name: "backup",
  summary: "Copy a running server's streams to a new directory; serve that one to restore",
  args: [{ name: "<directory>", summary: "target directory: new or empty" }],
  options: [
    {
      flags: "--data <directory>",
      summary: "the server's data directory; default: $XDG_DATA_HOME/verbatim",
    },
    { flags: "--json", summary: "print what was copied, as JSON" },
  ],
  examples: [
    "verbatim backup /mnt/backup/streams-1",
    "verbatim backup ./copy --data ./streams && verbatim verify ./copy",
    "verbatim serve --data /mnt/backup/streams-1",
  ],

  async run({ args, options, io }) {
    const to = resolve(args[0] as string);
    const { dataDirectory } = await import("../../base/node-paths.ts");
    const { nodeHost } = await import("../../base/node-host.ts");
    const { backUp } = await import("../../streams/journal/backup.ts");
    const from = resolve(textOption("--data", options.data) ?? dataDirectory());
    const report = await backUp({
      host: nodeHost,
      from,
      to,
      onProgress: (bytes) => io.progress(`${Math.floor(bytes / 1e6)} MB`),
    });
    io.progress(null);
    const { streams, bytes } = report;
    if (options.json) io.out(JSON.stringify({ directory: to, ...report }));
    else io.out(`${streams} ${streams === 1 ? "stream" : "streams"}, ${bytes} bytes, in ${to}`);
    return 0;
  },
};
