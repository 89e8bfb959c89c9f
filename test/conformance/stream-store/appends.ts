/** Appends: what is stored, what is refused, and the answers. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { formatOffset } from "../../../src/streams/files/offset-token.ts";
import { refusal } from "../../support/refusal.ts";
import { BINARY_TYPE, type StoreUnderTest, TestStore } from "./store-under-test.ts";

/** Texts that a store would change if it did more than keep bytes. */
const AWKWARD_JSON = [
  '{"b":1.0,"a":12345678901234567890,"a2":1e400,"k":1,"k":2}',
  '"\\u00e9 é \\ud83d\\ude00 😀 \u2028 \u007f \\/"',
  ' { "spaces" : [ 1 , 2 ] } ',
  '"\\u0000"',
  '"\\ud800"',
  "-0",
  "null",
  '""',
];

export function appendTests(under: StoreUnderTest): void {
  describe(`${under.name}: appending`, () => {
    test("JSON is kept as it was sent, one line per message, and an offset counts stored bytes", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      let end = 0;
      for (const text of AWKWARD_JSON) {
        const { outcome, head } = await streams.post("/s", text);
        end += Buffer.byteLength(text) + 1;
        assert.deepEqual([outcome, head.end], ["appended", formatOffset(0, end)]);
      }
      assert.equal(await streams.text("/s"), AWKWARD_JSON.map((text) => `${text}\n`).join(""));
    });

    test("an array is stored as its elements, cut from the text; line breaks outside strings are removed", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: ' [ 1.0 , {"a":[ 2,\r\n3 ]},\n"]," ] ' });
      await streams.post("/s", "[[],[1,2]]");
      await streams.post("/s", '{\n "a":\r\n1}\n');
      const stored = ["1.0", '{"a":[ 2,3 ]}', '"],"', "[]", "[1,2]", '{ "a":1}'];
      assert.equal(await streams.text("/s"), stored.map((text) => `${text}\n`).join(""));
      assert.deepEqual(
        (await streams.messages("/s")).map(([text]) => text),
        stored,
      );
    });

    test("bytes of any other type are kept unchanged", async () => {
      const streams = await TestStore.open(under);
      let count = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 6 }),
          fc.constantFrom(BINARY_TYPE, "text/plain", "application/x-ndjson"),
          async (bodies, contentType) => {
            const path = `/any/${count++}`;
            await streams.put(path, { contentType });
            for (const body of bodies) await streams.post(path, body, { contentType });
            const whole = Buffer.concat(bodies);
            assert.deepEqual([...(await streams.bytes(path))], [...whole]);
            assert.equal((await streams.head(path)).end, formatOffset(0, whole.length));
            let n = 0;
            for await (const { data } of streams.store.messages(path, "start")) {
              assert.deepEqual([...data], [...(bodies[n++] ?? [])]);
            }
            assert.equal(n, bodies.length);
          },
        ),
        { numRuns: 30 },
      );
    });

    test("every byte value, line ends, a byte order mark and broken UTF-8 are kept unchanged", async () => {
      const streams = await TestStore.open(under);
      const every = Uint8Array.from({ length: 256 }, (_, n) => n);
      const bodies = [
        every,
        Buffer.from("\ufeffa\r\nb\n\n"),
        Uint8Array.of(0xc3),
        Uint8Array.of(0),
      ];
      await streams.put("/s", { contentType: "text/plain", body: every });
      for (const body of bodies) await streams.post("/s", body);
      assert.deepEqual(await streams.bytes("/s"), Buffer.concat([every, ...bodies]));
    });

    test("invalid JSON, invalid UTF-8, an empty body or an empty array is refused and changes nothing", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: "1" });
      await streams.put("/bytes", { contentType: BINARY_TYPE });
      for (const body of ["{", "1 2", "[1,]", "", " ", "[]", " [ ] ", "\ufeff1"]) {
        const error = await refusal(streams.post("/s", body), "BAD_MESSAGE");
        assert.equal(error.details.stream, "/s");
      }
      await refusal(streams.post("/s", Uint8Array.of(0x22, 0xff, 0x22)), "BAD_MESSAGE");
      await refusal(streams.post("/s", "[]", { close: true }), "BAD_MESSAGE");
      await refusal(streams.post("/bytes", ""), "BAD_MESSAGE");
      await refusal(streams.put("/new", { text: "{" }), "BAD_MESSAGE");
      await refusal(streams.head("/new"), "STREAM_NOT_FOUND");
      assert.equal(await streams.text("/s"), "1\n");
      assert.equal((await streams.head("/s")).isClosed, false);
    });

    test("a JSON stream created with an empty array is empty", async () => {
      const streams = await TestStore.open(under);
      const { head } = await streams.put("/s", { text: "[]" });
      assert.equal(head.end, formatOffset(0, 0));
      assert.deepEqual(await streams.messages("/s"), []);
    });

    test("a type that differs is reported; letter case and parameters make no difference", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { contentType: "Application/JSON; charset=utf-8" });
      const post = async (contentType: string) =>
        (await streams.post("/s", "1", { contentType })).outcome;
      assert.equal(await post("application/json"), "appended");
      assert.equal(await post("APPLICATION/json;charset=latin1"), "appended");
      assert.equal(await post("text/plain"), "type-differs");
      assert.equal((await streams.head("/s")).contentType, "Application/JSON; charset=utf-8");
      assert.equal(await streams.text("/s"), "1\n1\n");
    });

    test("Stream-Seq must grow, compared as text", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      const post = async (streamSeq: string) =>
        (await streams.post("/s", JSON.stringify(streamSeq), { streamSeq })).outcome;
      for (const [seq, outcome] of [
        ["1", "appended"],
        ["1", "seq-not-greater"],
        ["10", "appended"],
        ["09", "seq-not-greater"],
        ["2", "appended"],
        ["10", "seq-not-greater"],
        ["a", "appended"],
        ["A", "seq-not-greater"],
      ] as const) {
        assert.equal(await post(seq), outcome, seq);
      }
      assert.equal((await streams.post("/s", "0")).outcome, "appended"); // Without Stream-Seq: not checked.
      assert.equal(await streams.text("/s"), '"1"\n"10"\n"2"\n"a"\n0\n');
    });

    test("of a hundred concurrent appends each is stored whole, once, with its own end offset", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      const bodies = Array.from({ length: 100 }, (_, n) => `{"n":${n},"pad":"${"x".repeat(n)}"}`);
      const answers = await Promise.all(bodies.map((body) => streams.post("/s", body)));
      const ends = new Set(answers.map(({ head }) => head.end));
      assert.equal(ends.size, 100);
      const stored = (await streams.messages("/s")).map(([text]) => text);
      assert.deepEqual(stored.toSorted(), bodies.toSorted());
      // Each caller got the offset after its own message.
      for (const [n, { head }] of answers.entries()) {
        const at = (await streams.messages("/s")).find(([, offset]) => offset === head.end);
        assert.equal(at?.[0], bodies[n]);
        if (n === 5) break;
      }
    });

    test("appends to many streams at once do not mix", async () => {
      const streams = await TestStore.open(under);
      const paths = Array.from({ length: 40 }, (_, n) => `/many/${n}`);
      await Promise.all(paths.map((path) => streams.put(path, { text: `"${path}"` })));
      await Promise.all(
        paths.flatMap((path) => [streams.post(path, `["${path}",1]`), streams.post(path, "2")]),
      );
      for (const path of paths) {
        assert.equal(await streams.text(path), `"${path}"\n"${path}"\n1\n2\n`);
      }
    });

    test("an append to a missing stream is refused", async () => {
      const streams = await TestStore.open(under);
      await refusal(streams.post("/none", "1"), "STREAM_NOT_FOUND");
      for (const path of ["/../x", "/__ds/x", "no slash", "/a?b", "/a\0b"]) {
        await refusal(streams.put(path), "BAD_STREAM_PATH");
      }
    });
  });
}
