/**
 * Scripts: random sequences of requests, compared with the model; every store returns the same
 * offsets.
 */

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { VerbatimError } from "../../../src/core/base/errors.ts";
import { runs } from "../../support/seed.ts";
import { outcomeOf, type StoreUnderTest, TestStore } from "./store-under-test.ts";
import { type ModelAppend, StreamModel } from "./stream-model.ts";

type Step =
  | { readonly do: "create"; readonly path: string; readonly values: readonly string[] }
  | {
      readonly do: "fork";
      readonly path: string;
      readonly source: string;
      readonly count: number;
      readonly values: readonly string[];
    }
  | { readonly do: "append"; readonly path: string; readonly append: ModelAppend }
  | { readonly do: "remove"; readonly path: string }
  | { readonly do: "restart" };

const path = fc.constantFrom("/a", "/b", "/a/b", "/c");
const values = fc.array(fc.constantFrom("1", '"é"', "[2,3]", '{"k":1,"k":2}'), { maxLength: 3 });
const small = fc.nat({ max: 2 });

const append: fc.Arbitrary<ModelAppend> = fc
  .tuple(
    values,
    fc.option(fc.record({ id: fc.constantFrom("p", "q"), epoch: small, seq: small })),
    fc.option(fc.constantFrom("0", "1", "2", "10")),
    fc.nat({ max: 9 }),
  )
  .map(([values, producer, streamSeq, n]) => ({
    values,
    close: n === 0,
    ...(producer === null ? {} : { producer }),
    ...(streamSeq === null ? {} : { streamSeq }),
  }));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("create" as const), path, values }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("fork" as const),
      path,
      source: path,
      count: fc.nat({ max: 4 }),
      values,
    }),
  },
  { weight: 12, arbitrary: fc.record({ do: fc.constant("append" as const), path, append }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("remove" as const), path }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const) }) },
);

export function scriptTests(under: StoreUnderTest): void {
  describe(`${under.name}: scripts`, () => {
    test("for requests in any order, answers, offsets and content are the model's", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const streams = await TestStore.open(under);
          const model = new StreamModel();
          for (const step of steps) {
            const answer = carriedOut(streams, step, model);
            const expected = modelled(model, step);
            assert.equal(await answer, expected, JSON.stringify(step));
          }
          for (let life = 0; life < 2; life++) {
            assert.deepEqual(await contentsOf(streams), model.contents());
            await streams.restart();
          }
          await streams.store.close();
        }),
        { numRuns: under.scripts ?? runs(60) },
      );
    });

    test("requests sent without waiting are answered as if each had waited for the one before", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const streams = await TestStore.open(under);
          const model = new StreamModel();
          const answers = steps
            .filter((step) => step.do !== "restart")
            .map((step) => [carriedOut(streams, step, model), modelled(model, step)] as const);
          for (const [answer, expected] of answers) assert.equal(await answer, expected);
          assert.deepEqual(await contentsOf(streams), model.contents());
          await streams.store.close();
        }),
        { numRuns: under.scripts ?? runs(60) },
      );
    });
  });
}

/** `model` has the state before the step: it determines where a fork begins. */
async function carriedOut(streams: TestStore, step: Step, model: StreamModel): Promise<string> {
  try {
    switch (step.do) {
      case "create": {
        const { isNew } = await streams.put(step.path, { text: `[${step.values}]` });
        return isNew ? "new" : "there already";
      }
      case "fork": {
        const { source, count, values } = step;
        const fork = { source, at: model.placeAfter(source, count) };
        const { isNew } = await streams.put(step.path, { fork, text: `[${values}]` });
        return isNew ? "new" : "there already";
      }
      case "append": {
        const { values, ...rest } = step.append;
        const body = values.length === 0 ? "" : `[${values}]`;
        return outcomeOf(await streams.post(step.path, body, rest));
      }
      case "remove":
        await streams.store.remove(step.path);
        return "removed";
      case "restart":
        await streams.restart();
        return "restarted";
    }
  } catch (error) {
    if (error instanceof VerbatimError) return error.code;
    throw error;
  }
}

function modelled(model: StreamModel, step: Step): string {
  switch (step.do) {
    case "create":
      return model.create(step.path, step.values);
    case "fork":
      return model.fork(step.path, step.source, step.count, step.values);
    case "append":
      return model.append(step.path, step.append);
    case "remove":
      return model.remove(step.path);
    case "restart":
      return "restarted";
  }
}

async function contentsOf(streams: TestStore) {
  const contents = new Map<string, { text: string; end: string; isClosed: boolean }>();
  for (const { path, end, isClosed } of await streams.store.list({ limit: 100 })) {
    contents.set(path, { text: await streams.text(path), end, isClosed });
  }
  return contents;
}
