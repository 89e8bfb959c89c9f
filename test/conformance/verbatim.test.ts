import { verbatim } from "../../src/dialects/verbatim/dialect.ts";
import { runDialectSuite } from "./dialect.ts";

runDialectSuite({
  dialect: verbatim,
  ids: ["one", "2026-11-16-f736da47", "a.b", "é"],
  agent: "ada",
  native: {
    type: "entry",
    entry: { kind: "message", role: "user", parts: [{ type: "text", text: "Hi" }] },
  },
  invalid: { kind: "message", role: "human" },
});
