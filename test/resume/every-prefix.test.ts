/**
 * Every prefix of any session gives a request that each provider accepts, and the report accounts for
 * every entry.
 *
 * Method: our own validators for each provider, on every prefix of generated sessions.
 */

import fc from "fast-check";
import { test } from "vitest";
import { entire } from "../../src/dialects/entire/dialect.ts";
import { homeagent } from "../../src/dialects/homeagent/dialect.ts";
import { ryeDialect } from "../../src/dialects/rye/dialect.ts";
import { runs } from "../support/seed.ts";
import { agentSession, throughDialect, wildSession } from "./any-session.ts";
import { judgeAll } from "./judged.ts";

const DIALECTS = {
  homeagent,
  entire,
  "rye, flat": ryeDialect({ envelope: "flat" }),
  "rye, payload": ryeDialect({ envelope: "payload" }),
};

test("every prefix of any log is a request that each provider accepts", () => {
  fc.assert(
    fc.property(wildSession, (entries) => {
      for (let end = 0; end <= entries.length; end++) {
        judgeAll(entries.slice(0, end), `the first ${end} entries`);
      }
    }),
    { numRuns: runs(150) },
  );
});

test.each(Object.entries(DIALECTS))(
  "every prefix of an agent's session is a request that each provider accepts (%s)",
  (_name, dialect) => {
    fc.assert(
      fc.property(agentSession, (session) => {
        const entries = throughDialect(dialect, session);
        for (let end = 0; end <= entries.length; end++) {
          judgeAll(entries.slice(0, end), `the first ${end} lines`);
        }
      }),
      { numRuns: 40 },
    );
  },
);
