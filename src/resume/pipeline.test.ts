/** Calls, results, ids and texts: the rules of docs/resume.md, applied to entries. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { piped } from "../../test/resume/judged.ts";
import {
  back,
  call,
  entriesOf,
  failed,
  result,
  resumed,
  text,
  use,
} from "../../test/resume/said.ts";
import type { Part } from "../core/model/entry.ts";
import {
  FIRST_USER_TEXT,
  LAST_USER_TEXT,
  NOT_STARTED_RESULT,
  STRAY_OUTPUT,
  STRAY_RESULT,
  SYSTEM_SAID,
  UNCERTAIN_RESULT,
} from "./wire-text.ts";

test("a call without a result gets an UNCERTAIN one", () => {
  assert.deepEqual(resumed(["user", ["go"]], ["assistant", [call("a")]]), {
    messages: [
      ["user", text("go")],
      ["assistant", use("a")],
      ["user", failed("a", UNCERTAIN_RESULT)],
    ],
    done: ["uncertain_result 2"],
  });
});

test("a call that was cut before its input was complete gets a NOT STARTED result", () => {
  const native = { type: "tool_use", id: "a", name: "look", input_text: '{"pa' };
  assert.deepEqual(resumed(["user", ["go"]], ["assistant", [{ type: "other", native }]]), {
    messages: [
      ["user", text("go")],
      ["assistant", use("a", { input_text: '{"pa' })],
      ["user", failed("a", NOT_STARTED_RESULT)],
    ],
    done: ["call_broken_off 2", "not_started_result 2"],
  });
});

test("results between the blocks of one message are regrouped after it", () => {
  const id = { messageId: "m1" };
  assert.deepEqual(
    resumed(
      ["user", ["go"]],
      ["assistant", [call("a")], id],
      ["tool", [result("a", "1")]],
      ["assistant", [call("b")], id],
      ["tool", [result("b", "2", "no")]],
    ),
    {
      messages: [
        ["user", text("go")],
        ["assistant", use("a"), use("b")],
        ["user", back("a", "1"), { ...failed("b", "no"), content: [text("no"), text("2")] }],
      ],
      done: [],
    },
  );
});

test("a late result is placed after its call", () => {
  assert.deepEqual(
    resumed(
      ["user", ["go"]],
      ["assistant", [call("a")]],
      ["user", ["and?"]],
      ["assistant", ["wait"]],
      ["tool", [result("a", "1")]],
    ),
    {
      messages: [
        ["user", text("go")],
        ["assistant", use("a")],
        ["user", back("a", "1"), text("and?")],
        ["assistant", text("wait")],
      ],
      done: ["result_regrouped 5"],
    },
  );
});

test("a second result is dropped, one without a call is kept as text, an echo is sent once", () => {
  assert.deepEqual(
    resumed(
      ["user", ["go"]],
      ["assistant", [call("a")]],
      ["tool", [result("a", "1")]],
      ["tool", [result("a", "2")]],
      ["tool", [result("x", "3")]],
      ["tool", ["1"]],
      ["tool", ["4"]],
    ),
    {
      messages: [
        ["user", text("go")],
        ["assistant", use("a")],
        ["user", back("a", "1"), text(STRAY_RESULT), text("3"), text(`${STRAY_OUTPUT}\n4`)],
      ],
      done: ["duplicate_result 4", "stray_result_as_text 5", "echo 6", "stray_output_as_text 7"],
    },
  );
});

test("an interrupted call does not get the result of a later call with its id, or of one without an id", () => {
  for (const id of ["1", null]) {
    const { messages, done } = resumed(
      ["user", ["deploy it"]],
      ["assistant", [call(id, { env: "prod" }, "deploy")]],
      ["user", ["stop! only tell me the status"]],
      ["assistant", [call(id, {}, "status")]],
      ["tool", [result(id, "all good")]],
    );
    const used = (at: number) => messages[at]?.[1] as { id: string; name: string };
    assert.deepEqual([used(1).name, used(3).name], ["deploy", "status"]);
    assert.deepEqual(messages[2]?.[1], failed(used(1).id, UNCERTAIN_RESULT));
    assert.deepEqual(messages[4]?.[1], back(used(3).id, "all good"));
    assert.ok(done.includes("uncertain_result 2"));
  }
});

test("text after a result in one line becomes another message", () => {
  const one = [call("a"), result("a", "42"), call("b"), result("b", "gone"), "Done."].map((part) =>
    typeof part === "string" ? text(part) : part,
  ) as Part[];
  assert.deepEqual(resumed(["user", ["go"]], ["assistant", one, { messageId: "m1" }]), {
    messages: [
      ["user", text("go")],
      ["assistant", use("a")],
      ["user", back("a", "42")],
      ["assistant", use("b")],
      ["user", back("b", "gone")],
      ["assistant", text("Done.")],
    ],
    done: [],
  });
});

test("a system message stays in place: a result that is moved before it is reported", () => {
  const id = { messageId: "m1" };
  const { messages, done } = resumed(
    ["user", ["go"]],
    ["assistant", [call("a")], id],
    ["system", ["They went away."]],
    ["tool", [result("a", "1")]],
    ["assistant", ["Later."], id],
  );
  assert.deepEqual(messages, [
    ["user", text("go")],
    ["assistant", use("a")],
    ["user", back("a", "1"), text(`${SYSTEM_SAID}\nThey went away.`)],
    ["assistant", text("Later.")],
  ]);
  assert.deepEqual(done, ["result_regrouped 4", "system_as_user 3"]);
});

test("a number that may have been rounded is reported, with its call", () => {
  const big = JSON.parse('{"id":[12345678901234567890]}');
  const beyond = JSON.parse('{"x":-1e400}');
  const exact = { id: Number.MAX_SAFE_INTEGER, share: 0.1, text: "12345678901234567890" };
  const { messages, done } = resumed(
    ["user", ["go"]],
    ["assistant", [call("a", exact), call("b", big), call("c", beyond)]],
    ["tool", [result("a", exact), result("b", [text("found"), big]), result("c", 2 ** 53)]],
  );
  assert.deepEqual(messages[1]?.slice(1), [use("a", exact), use("b", big), use("c", beyond)]);
  assert.deepEqual(done, [
    "number_rounded 2",
    "number_rounded 2",
    "number_rounded 3",
    "number_rounded 3",
  ]);
});

test("ids that were used before, or that no provider accepts, are replaced, and names are adapted", () => {
  const { messages, done } = resumed(
    ["user", ["go"]],
    ["assistant", [call("1")]],
    ["tool", [result("1", "one")]],
    ["assistant", [call("1", "bare", "oven.status"), call("a|b"), call(null)]],
    ["tool", [result("1", "two"), result("a|b", "three"), result(null, "four")]],
  );
  assert.deepEqual(messages.slice(3), [
    [
      "assistant",
      { type: "tool_use", id: "call_2", name: "oven_status", input: { input: "bare" } },
      use("call_3"),
      use("call_4"),
    ],
    ["user", back("call_2", "two"), back("call_3", "three"), back("call_4", "four")],
  ]);
  assert.deepEqual(done, [
    "call_renamed 4",
    "tool_renamed 4",
    "input_wrapped 4",
    "call_renamed 4",
    "call_renamed 4",
  ]);
});

test("the user speaks first and last, with the caller's prompt", () => {
  const entries = entriesOf(["assistant", ["hello"]]);
  const words = (prompt?: string | null) => {
    return piped("openai-chat", entries, prompt).messages.map(({ content }) => content);
  };
  assert.deepEqual(words(), [FIRST_USER_TEXT, "hello", LAST_USER_TEXT]);
  assert.deepEqual(words("And now?"), [FIRST_USER_TEXT, "hello", "And now?"]);
  assert.deepEqual(words(null), [FIRST_USER_TEXT, "hello"]);
  assert.deepEqual(piped("anthropic", []).messages, [
    { role: "user", content: [text(LAST_USER_TEXT)] },
  ]);
});

test("blank texts are dropped, and NULs and lone surrogates become visible, also in keys", () => {
  const { messages, done } = resumed(
    ["user", [" \n", "nul \0", "half \ud83d of 😀"]],
    ["assistant", [call("a", { "\0": ["\\u0000 \udc00"] })]],
    ["tool", [result("a", "\0")]],
    ["user", ["\u001c"]],
    ["assistant", [call("b"), call("c"), call("d")]],
    ["tool", [result("b", " \n"), result("c", [text("\t"), text("so")]), result("d", "")]],
  );
  assert.deepEqual(messages, [
    ["user", text("nul \\u0000"), text("half \\ud83d of 😀")],
    ["assistant", use("a", { "\\u0000": ["\\u0000 \\udc00"] })],
    ["user", back("a", "\\u0000")],
    ["assistant", use("b"), use("c"), use("d")],
    ["user", back("b"), back("c", "so"), back("d")],
  ]);
  assert.deepEqual(done, [
    "blank 1",
    "escaped 1",
    "escaped 1",
    "escaped 2",
    "escaped 3",
    "blank 4",
    "blank 6",
    "blank 6",
  ]);
});

test("two calls with one id in one message each get their own result, in order", () => {
  const one = call("a", { file: 1 });
  const two = call("a", { file: 2 });
  const got = resumed(
    ["user", ["go"]],
    ["assistant", [one, two]],
    ["tool", [result("a", "first"), result("a", "second")]],
  );
  assert.deepEqual(got.messages.slice(1), [
    ["assistant", use("a", { file: 1 }), use("call_2", { file: 2 })],
    ["user", back("a", "first"), back("call_2", "second")],
  ]);
  assert.deepEqual(got.done, ["call_renamed 2"]);
});
