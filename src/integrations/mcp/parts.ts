/** Parts: what the tools work with. */

import type { Host } from "../../base/host.ts";
import type { Where } from "../../listing/find-stores.ts";

export interface McpParts {
  readonly host: Host;
  readonly where: Where;
  readonly nowMs: () => number;
  readonly onWarning: (warning: string) => void;
}
