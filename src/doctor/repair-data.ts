/**
 * Repair data: moves bytes that another program appended to a stream's file out of the way, so that
 * the stream can be appended to again.
 *
 * Only bytes after everything that was appended are cut, and only if everything before them is
 * sound; they are copied to a `.torn` file first, durably. No other finding in a data directory is
 * repaired: a server repairs what it can when it opens the directory.
 *
 * The directory is locked meanwhile: examining it holds the lock until its last finding.
 */

import { basename } from "node:path";
import type { Host } from "../base/host.ts";
import type { Finding } from "../findings/finding.ts";
import { keepAside } from "../log/repair.ts";
import { examineData } from "./check-directory.ts";
import type { RepairOptions, RepairStep } from "./repair.ts";

export async function* repairData(
  host: Host,
  path: string,
  { isDryRun }: RepairOptions,
): AsyncGenerator<RepairStep> {
  for await (const step of examineData(host, path)) {
    if ("session" in step) yield { kind: "session", session: step.session };
    else {
      const { finding } = step;
      if (finding.mends && isDryRun) yield { kind: "would", finding };
      else if (finding.mends) {
        yield { kind: "mended", finding, did: await cutForeign(host, path, finding) };
      } else if (finding.severity !== "note") yield { kind: "left", finding, count: 1 };
    }
  }
}

async function cutForeign(host: Host, root: string, { path, offset = 0 }: Finding) {
  const directory = await host.files.openDirectory(`${root}/logs`, { create: false, root });
  try {
    const name = basename(path);
    const file = directory.open(name, "update");
    try {
      const size = file.size();
      const kept = await keepAside({ directory, name, path }, file, offset, size);
      file.truncate(offset);
      await file.sync();
      return `cut off ${size - offset} bytes of another program; they are in ${basename(kept)}`;
    } finally {
      file.close();
    }
  } finally {
    directory.close();
  }
}
