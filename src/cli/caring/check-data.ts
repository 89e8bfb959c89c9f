/** Check data: `verbatim serve --check`, which checks a data directory or a database without serving it. */

import { relative, resolve } from "node:path";
import type { Io } from "../../command/command.ts";
import type { Examined } from "../../doctor/examine.ts";
import type { PrintOptions } from "./findings-report.ts";

/** Like `doctor`, with the fields that its JSON always had. */
export async function checkData(name: string, isJson: boolean, io: Io): Promise<number> {
  io.goOnUnread();
  const { nodeHost } = await import("../../base/node-host.ts");
  const { examineData } = await import("../../doctor/check-directory.ts");
  const { printFindings } = await import("./findings-report.ts");
  const { isDatabase } = await import("./copy-places.ts");
  const path = isDatabase(name) ? "" : resolve(name);
  const fields: Pick<PrintOptions, "finding" | "summary"> = {
    finding: ({ code, severity, session: stream, path: file, offset = null, detail: message }) => {
      const isDamage = severity === "error";
      return {
        code,
        isDamage,
        file: path === "" ? file : relative(path, file),
        stream,
        offset,
        message,
      };
    },
    summary: ({ sessions: streams, errors: damages, notes }) => ({ streams, damages, notes }),
  };
  const examined = path === "" ? examineDatabase(name) : examineData(nodeHost, path);
  return printFindings(examined, io, { isJson, noun: "stream", ...fields });
}

async function* examineDatabase(url: string): AsyncGenerator<Examined> {
  const { checkTables } = await import("../../postgres/check-tables.ts");
  const { STREAMS } = await import("../../proof/envelopes.ts");
  const { openPostgresSource } = await import("../../postgres/postgres-source.ts");
  const source = await openPostgresSource(url, { isAlone: false });
  try {
    const store = { dialect: STREAMS, root: source.place };
    for await (const each of checkTables(source)) {
      yield "stream" in each
        ? { session: { ...store, id: each.stream, path: source.table } }
        : each;
    }
  } finally {
    await source.close();
  }
}
