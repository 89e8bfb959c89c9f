import { ryeDialect } from "../../src/dialects/rye/dialect.ts";
import { runDialectSuite } from "./dialect.ts";

for (const envelope of ["flat", "payload"] as const) {
  runDialectSuite({
    dialect: ryeDialect({ envelope }),
    ids: ["hello_world-1739012630", "test/tools/write-1771", "a", "a/b", "a-b.c_d"],
    agent: "hello_world",
    native: { type: "assistant_text", text: "hello" },
    invalid: { type: "checkpoint" },
  });
}
