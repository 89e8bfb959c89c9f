/** The validation suite that LangGraph publishes for its checkpointers. It takes Vitest's globals. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { validate } from "@langchain/langgraph-checkpoint-validation";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { VerbatimSaver } from "../../src/doors/langgraph.ts";

const globals = { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it };
Object.assign(globalThis, globals);

const roots = mkdtempSync(join(tmpdir(), "verbatim-langgraph-"));
afterAll(() => {
  for (const name of Object.keys(globals)) Reflect.deleteProperty(globalThis, name);
  rmSync(roots, { recursive: true });
});

validate({
  checkpointerName: "VerbatimSaver",
  createCheckpointer: () => new VerbatimSaver({ root: mkdtempSync(join(roots, "root-")) }),
  destroyCheckpointer: (saver) => saver.close(),
});
