import { homeagent } from "../../src/dialects/homeagent/dialect.ts";
import { runDialectSuite } from "./dialect.ts";

runDialectSuite({
  dialect: homeagent,
  ids: ["kitchen/2026-11-15", "a b/c.jsonl", "é/😀"],
  agent: "kitchen",
  native: { turnId: "1", role: "user", content: "hello", ts: 1_760_000_000_000 },
  invalid: { turnId: "1", role: "robot", ts: 1 },
});
