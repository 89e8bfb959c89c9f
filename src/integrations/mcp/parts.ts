/** Parts: what the tools work with. */

import { VerbatimError } from "../../base/errors.ts";
import type { Host } from "../../base/host.ts";
import type { Where } from "../../listing/find-stores.ts";

export interface McpParts {
  readonly host: Host;
  readonly where: Where;
  readonly nowMs: () => number;
  readonly onWarning: (warning: string) => void;
}

export function badCursor(): VerbatimError {
  return new VerbatimError("BAD_REQUEST", "the cursor is not valid; pass `next` unchanged", {
    part: "cursor",
    reason: "not one of ours",
  });
}
