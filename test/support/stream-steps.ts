/** Stream steps: random requests to a store, which both kinds of stores must answer alike. */

import fc from "fast-check";
import { formatOffset } from "../../src/streams/files/offset-token.ts";
import type {
  AppendRequest,
  CreateRequest,
  StreamStore,
} from "../../src/streams/files/stream-store.ts";

export type Step =
  | { readonly do: "create"; readonly path: string; readonly request: CreateRequest }
  | { readonly do: "append"; readonly path: string; readonly request: AppendRequest }
  | { readonly do: "read"; readonly path: string; readonly at: number; readonly bytesMax: number }
  | { readonly do: "remove" | "touch" | "head"; readonly path: string }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "sweep" };

const path = fc.constantFrom("/a", "/b", "/c", "/d/é");
const small = fc.nat({ max: 3 });
const place = fc.record({ readSeq: fc.nat({ max: 1 }), byteOffset: fc.nat({ max: 40 }) });
const body = fc
  .constantFrom("", "1", "[1,2,[3]]", '{"a":\n"é"}', "[]", "{", '["long, much longer"]')
  .map((text) => Buffer.from(text));
const contentType = fc.constantFrom(undefined, "application/json", "text/plain");
const lifetime = fc.constantFrom(
  undefined,
  { kind: "ttl", seconds: 2 } as const,
  { kind: "until", atMs: 1_763_200_004_000, text: "soon" } as const,
);
const fork = fc.option(
  fc.record({
    source: path,
    at: fc.option(
      place.map(({ readSeq, byteOffset }) => formatOffset(readSeq, byteOffset)),
      { nil: undefined },
    ),
    subOffset: fc.option(small, { nil: undefined }),
  }),
  { nil: undefined },
);
const create = fc.record({ contentType, lifetime, body, isClosed: fc.constant(false), fork });
const append = fc.record({
  body,
  contentType,
  streamSeq: fc.option(fc.constantFrom("0", "1", "10", "é"), { nil: undefined }),
  producer: fc.option(
    fc.record({ id: fc.constantFrom("p", "q\0\ud800"), epoch: fc.nat({ max: 1 }), seq: small }),
    { nil: undefined },
  ),
  close: fc.nat({ max: 9 }).map((n) => n === 0),
});
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("create"), path, request: create }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("append"), path, request: append }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("read"),
      path,
      at: fc.nat({ max: 40 }),
      bytesMax: fc.constantFrom(1, 9, 100),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("remove", "touch", "head"), path }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(900, 1900) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("sweep") }) },
) as fc.Arbitrary<Step>;

/** Refused steps reject. */
export function carryOut(store: StreamStore, step: Step): Promise<unknown> | null {
  switch (step.do) {
    case "create":
      return store.create(step.path, step.request);
    case "append":
      return store.append(step.path, step.request);
    case "read":
      return store.read(step.path, formatOffset(0, step.at), step.bytesMax);
    case "remove":
      return store.remove(step.path);
    case "head":
      return store.head(step.path);
    case "sweep":
      return store.sweep();
    case "touch":
      store.touch(step.path);
      return null;
    case "wait":
      return null;
  }
}
