/** Check data: `verbatim serve --check`, which checks a data directory or a database without serving it. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Finding } from "../../core/findings/finding.ts";
import type { ExaminedItem } from "../../evidence/doctor/examine.ts";
import type { PostgresSource } from "../../streams/postgres/postgres-source.ts";
import type { Io } from "../command/command.ts";
import type { PrintOptions } from "./findings-report.ts";

/** Like `doctor`, with the fields that its JSON always had. */
export async function checkData(name: string, isJson: boolean, io: Io): Promise<number> {
  io.goOnUnread();
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { examineData } = await import("../../evidence/doctor/check-directory.ts");
  const { printFindings } = await import("./findings-report.ts");
  const { isDatabase } = await import("./copies.ts");
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

async function* examineDatabase(url: string): AsyncGenerator<ExaminedItem> {
  const { checkTables } = await import("../../streams/postgres/check-tables.ts");
  const { STREAMS } = await import("../../trust/proof/envelopes.ts");
  const { openPostgresSource } = await import("../../streams/postgres/postgres-source.ts");
  const source = await openPostgresSource(url, { isAlone: false });
  try {
    const store = { dialect: STREAMS, root: source.place };
    for await (const each of checkTables(source)) {
      yield "stream" in each
        ? { session: { ...store, id: each.stream, path: source.table } }
        : each;
    }
    for await (const found of contradictedIn(source)) yield { finding: found };
  } finally {
    await source.close();
  }
}

/** What the checkpoints of a database say otherwise than its rows; their signatures are not checked. */
async function* contradictedIn(source: PostgresSource): AsyncGenerator<Finding> {
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { checkSigned } = await import("../../evidence/doctor/check-streams.ts");
  const { finding } = await import("../../core/findings/finding.ts");
  const { DatabaseFiles } = await import("../prove/verify-database.ts");
  const scratch = mkdtempSync(join(tmpdir(), "verbatim-check-"));
  const logs = await nodeHost.files.openDirectory(scratch, { create: false });
  try {
    const streams = await new DatabaseFiles(source, scratch).writeCheckpoints();
    for (const state of streams.values()) {
      if (state.status === "deleted") continue;
      const parent = streams.get(state.fork?.source ?? "") ?? null;
      // Whether the messages are as many as its row says was checked before.
      for await (const found of checkSigned(logs, state, Number.MAX_SAFE_INTEGER, parent)) {
        const detail = found.detail.replaceAll("meta.jsonl", "its row");
        yield { ...found, detail, path: source.table };
      }
    }
  } catch (cause) {
    if (!(cause instanceof VerbatimError && cause.code === "STREAM_DAMAGED")) throw cause;
    const at = { session: cause.details.stream as string, path: source.table };
    yield finding("BYTES_DAMAGED", at, "some of its checkpoints are missing");
  } finally {
    logs.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}
