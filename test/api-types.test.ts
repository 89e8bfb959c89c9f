/** What the compiler says to users: one clear error for a wrong word, and facts by the error's code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { diagnose } from "./public-api/programs.ts";

const BEFORE = `import { openStore } from "verbatim-log";
const session = await (await openStore()).create();
`;
const PART = '{ type: "text", text: "Hi" }';

/** Each argument has one wrong word; the error is on it. */
const WRONG: readonly (readonly [given: string, says: RegExp])[] = [
  [`{ kind: "mesage", role: "user", parts: [${PART}] }`, /"mesage".*Did you mean '"message"'/],
  [`{ kind: "message", role: "usr", parts: [${PART}] }`, /"usr".*Did you mean '"user"'/],
  [`{ kind: "message", rol: "user", parts: [${PART}] }`, /'rol'.*Did you mean to write 'role'/],
  ['{ kind: "message", parts: [{ type: "txt", text: "Hi" }] }', /"txt".*Did you mean '"text"'/],
  ['{ kind: "message", parts: [{ type: "text", txt: "Hi" }] }', /'txt'.*to write 'text'/],
  ['{ kind: "message", parts: "Hi" }', /'string' is not assignable to type 'readonly Part\[\]'/],
  ['{ role: "user" }', /\n.*'kind' is missing/],
];

test("a wrong word in an entry is one error of the compiler, at that word", () => {
  const programs = WRONG.map(([given], at): [string, string] => {
    return [`append-${at}.mts`, `${BEFORE}await session.append(${given});\n`];
  });
  const said = diagnose(new Map(programs))
    .trim()
    .split(/\n(?=append-)/);

  assert.equal(said.length, WRONG.length, said.join("\n"));
  for (const [at, [given, says]] of WRONG.entries()) {
    const error = said[at] ?? "";
    assert.match(error, says, given);
    assert.ok(error.split("\n").length <= 2, error);
  }
});

test("the code of an error decides the type of its details, and is one of the entry point's", () => {
  const program = `import { openLog, VerbatimError } from "verbatim-log/log";
    try {
      await openLog("a");
    } catch (error) {
      if (error instanceof VerbatimError && error.code === "NO_SPACE") error.details.bytes.toFixed();
      if (error instanceof VerbatimError && error.code === "PORT_TAKEN") throw error;
    }`;
  assert.match(
    diagnose(new Map([["log.mts", program]])),
    /^log.mts\(6,45\): error TS2367: .*"PORT_TAKEN"/,
  );
});
