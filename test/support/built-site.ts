/** The documentation site as `npm run docs` builds it, once per run. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildSite } from "../../scripts/site/site.mjs";
import { COMMANDS } from "../../src/cli/commands.ts";
import { openApiDocument } from "../../src/server/openapi/document.ts";
import { oncePerRun } from "./once-per-run.ts";

export interface BuiltSite {
  readonly folder: string;
  /** Of its files, in that folder. */
  readonly addresses: readonly string[];
}

export function builtSite(): Promise<BuiltSite> {
  return oncePerRun("site", async (place) => {
    const folder = join(place, "files");
    const files = buildSite({ commands: COMMANDS, openApi: await openApiDocument() });
    for (const [address, content] of files) {
      const path = join(folder, address);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
    return { folder, addresses: [...files.keys()] };
  });
}
