/** Check data: `verbatim serve --check`, which checks a data directory without serving it. */

import { relative, resolve } from "node:path";
import type { Io } from "../../command/command.ts";
import type { PrintOptions } from "./findings-report.ts";

/** Like `doctor`, with the fields that its JSON always had. */
export async function checkData(name: string, isJson: boolean, io: Io): Promise<number> {
  io.goOnUnread();
  const { nodeHost } = await import("../../base/node-host.ts");
  const { examineData } = await import("../../doctor/check-directory.ts");
  const { printFindings } = await import("./findings-report.ts");
  const path = resolve(name);
  const fields: Pick<PrintOptions, "finding" | "summary"> = {
    finding: ({ code, severity, session: stream, path: file, offset = null, detail: message }) => {
      const isDamage = severity === "error";
      return { code, isDamage, file: relative(path, file), stream, offset, message };
    },
    summary: ({ sessions: streams, errors: damages, notes }) => ({ streams, damages, notes }),
  };
  return printFindings(examineData(nodeHost, path), io, { isJson, noun: "stream", ...fields });
}
