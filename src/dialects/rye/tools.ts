/** Tools of rye, by kind (tool-table.ts). */

import type { ToolTable } from "../tool-table.ts";

export const tools: ToolTable = {
  rye_execute: { kind: "other", verb: "Execute", subject: ["item_id"] },
  rye_load: { kind: "other", verb: "Load", subject: ["item_id"] },
  rye_search: "search",
  rye_sign: { kind: "other", verb: "Sign", subject: ["item_id"] },
  directive_return: { kind: "other", verb: "Returns" },
};
