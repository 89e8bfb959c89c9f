import { sdk } from "../../src/dialects/verbatim/sdk-dialect.ts";
import { runDialectSuite } from "./dialect.ts";

runDialectSuite({
  dialect: sdk,
  ids: ["ai-sdk/c1", "openai-agents/a b.jsonl", "é/😀"],
  agent: "ai-sdk",
  native: { type: "item", item: { type: "message", role: "user", content: "hello" } },
  invalid: { type: "item", item: "hello" },
});
