import { claude } from "../../src/dialects/hooks/dialect.ts";
import { runDialectSuite } from "./dialect.ts";

runDialectSuite({
  dialect: claude,
  ids: [
    "-home-me-app/6f1c1f2e-0a53-4a3c-9f0a-3d1a5b6c7d01",
    "app/6f1c1f2e-0a53-4a3c-9f0a-3d1a5b6c7d01/subagents/agent-7",
    "%2E%2E/%C3%A9/a/%",
  ],
  agent: "app",
  native: { type: "user", message: { role: "user", content: "hello" } },
  invalid: { type: 1, message: { role: "user", content: "hello" } },
});
