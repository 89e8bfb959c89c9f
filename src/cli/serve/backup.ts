/** `verbatim backup`: copies a server's data directory or database while the server runs. */

import { resolve } from "node:path";
import { type CliCommand, type Io, textOption, UsageError } from "../command/command.ts";

export const backup: CliCommand = {
  name: "backup",
  summary: "Copy a running server's streams to a new directory; serve that one to restore",
  args: [{ name: "<directory>", summary: "target directory: new or empty" }],
  options: [
    {
      flags: "--data <directory>",
      summary: "the server's data directory; default: $XDG_DATA_HOME/verbatim",
    },
    {
      flags: "--store <url>",
      summary: "the server's database instead: postgres://user@host/database",
    },
    { flags: "--json", summary: "print what was copied, as JSON" },
  ],
  examples: [
    "verbatim backup /mnt/backup/streams-1",
    "verbatim backup ./copy --data ./streams && verbatim verify ./copy",
    "verbatim backup ./copy --store postgres://verbatim@db.example.com/streams",
    "verbatim serve --data /mnt/backup/streams-1",
  ],

  async run({ args, options, io }) {
    const to = resolve(args[0] as string);
    const url = textOption("--store", options.store);
    const data = textOption("--data", options.data);
    if (url !== undefined && data !== undefined) throw new UsageError("give --data or --store");
    const { streams, bytes } = await (url === undefined
      ? backUpDirectory(data, to, io)
      : backUpDatabase(url, to, io));
    io.progress(null);
    if (options.json) io.out(JSON.stringify({ directory: to, streams, bytes }));
    else io.out(`${streams} ${streams === 1 ? "stream" : "streams"}, ${bytes} bytes, in ${to}`);
    return 0;
  },
};

async function backUpDirectory(data: string | undefined, to: string, io: Io) {
  const { dataDirectory } = await import("../../core/base/node-paths.ts");
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { backUp } = await import("../../streams/journal/backup.ts");
  return backUp({
    host: nodeHost,
    from: resolve(data ?? dataDirectory()),
    to,
    onProgress: (bytes) => io.progress(`${Math.floor(bytes / 1e6)} MB`),
  });
}

/** Of one moment: a snapshot of the database. */
async function backUpDatabase(url: string, to: string, io: Io) {
  const { copyBetween, databaseUrl, openSource } = await import("./copy-places.ts");
  const source = await openSource(databaseUrl("--store", url), false);
  try {
    return await copyBetween(source, to, io);
  } finally {
    await source.close();
  }
}
