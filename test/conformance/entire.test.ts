import { entire } from "../../src/dialects/entire/dialect.ts";
import { runDialectSuite } from "./dialect.ts";

runDialectSuite({
  dialect: entire,
  ids: ["2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890", "a b", "é", "full.jsonl"],
  agent: "anybody",
  native: { type: "assistant", message: { content: "hello" } },
  invalid: { type: "checkpoint", message: { content: "hello" } },
});
