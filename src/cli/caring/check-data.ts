/** Check data: `verbatim serve --check`, which checks a data directory without serving it. */

import { resolve } from "node:path";
import type { Io } from "../../command/command.ts";
import { jsonLine } from "../../command/json-line.ts";
import type { CheckFinding } from "../../findings/check-finding.ts";

const EXIT_FOUND = 1;

/** 0: no damage; repairs due at the next opening are reported. 1: damage. */
export async function checkData(name: string, isJson: boolean, io: Io): Promise<number> {
  io.goOnUnread();
  const { nodeHost } = await import("../../base/node-host.ts");
  const { checkDataDirectory } = await import("../../doctor/check-directory.ts");
  const path = resolve(name);
  let [streams, damages, notes] = [0, 0, 0];
  const onProgress = (count: number) => {
    streams = count;
    io.progress(`${count} streams`);
  };
  for await (const finding of checkDataDirectory({ host: nodeHost, path, onProgress })) {
    if (finding.isDamage) damages++;
    else notes++;
    await io.print(isJson ? jsonLine(finding) : `${textOf(finding)}\n`);
  }
  io.progress(null);
  if (isJson) await io.print(jsonLine({ summary: { streams, damages, notes } }));
  else io.out(`${streams} streams examined: ${damages === 0 ? "no damage" : `${damages} found`}`);
  return damages === 0 ? 0 : EXIT_FOUND;
}

function textOf({ isDamage, file, offset, message, code }: CheckFinding): string {
  const place = offset === null ? file : `${file} at byte ${offset}`;
  return `${isDamage ? "damage" : "note"}: ${place}: ${message} (${code})`;
}
