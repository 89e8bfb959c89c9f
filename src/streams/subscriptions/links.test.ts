import { expect, test } from "vitest";
import { formatOffset, type OffsetToken } from "../files/offset-token.ts";
import type { StreamHead } from "../files/stream-store.ts";
import { StreamEnds, SubscriptionLinks } from "./links.ts";

const at = (bytes: number, readSeq = 0): OffsetToken => formatOffset(readSeq, bytes);

test("a stream that matches the pattern is pending from its beginning, without a link", () => {
  const { ends, links } = newLinks("events/*");
  grow(ends, links, "/events/a", head("/events/a", at(10)));
  expect(links.firstPending).toBe("/events/a");
  expect(links.describe("/events/a")).toEqual({
    path: "/events/a",
    linkType: "glob",
    acked: at(0),
    tail: at(10),
    hasPending: true,
  });
  links.apply(new Map([["/events/a", { isExplicit: false, cursor: at(10) }]]));
  expect(links.firstPending).toBeNull();
  grow(ends, links, "/events/a", head("/events/a", at(11)));
  expect(links.firstPending).toBe("/events/a");
});

test("inherited messages of a fork are not pending; messages appended to it are", () => {
  const { ends, links } = newLinks("**");
  const fork = { source: "/s", at: at(30) };
  grow(ends, links, "/f", { ...head("/f", at(30)), fork });
  expect(links.firstPending).toBeNull();
  grow(ends, links, "/f", { ...head("/f", at(31)), fork });
  expect(links.describe("/f")).toMatchObject({ acked: at(30), tail: at(31), hasPending: true });
});

test("an acknowledgement of a deleted stream does not apply to a later one with its path", () => {
  const { ends, links } = newLinks("**");
  grow(ends, links, "/a", head("/a", at(100)));
  links.apply(new Map([["/a", { isExplicit: false, cursor: at(100) }]]));
  ends.deleted("/a");
  links.refresh("/a");
  expect(links.paths()).toEqual([]);
  grow(ends, links, "/a", { ...head("/a", at(0, 1)), start: at(0, 1) });
  expect(links.firstPending).toBeNull(); // Created again, and empty.
  grow(ends, links, "/a", { ...head("/a", at(5, 1)), start: at(0, 1) });
  expect(links.describe("/a")).toMatchObject({ acked: at(0, 1), hasPending: true });
});

test("a stream both named and matched is explicit; when no longer named, it is still matched", () => {
  const { ends, links } = newLinks("events/*");
  grow(ends, links, "/events/a", head("/events/a", at(1)));
  links.apply(new Map([["/events/a", { isExplicit: true, cursor: at(1) }]]));
  expect(links.describe("/events/a").linkType).toBe("explicit");
  expect(links.explicitCount).toBe(1);
  links.apply(new Map([["/events/a", { isExplicit: false, cursor: at(1) }]]));
  expect(links.describe("/events/a").linkType).toBe("glob");
  expect(links.explicitCount).toBe(0);
  expect(links.paths()).toEqual(["/events/a"]);
});

test("a stream that is named before it exists is listed at zero and becomes pending when it grows", () => {
  const { ends, links } = newLinks(null);
  links.apply(new Map([["/later", { isExplicit: true, cursor: null }]]));
  expect(links.paths()).toEqual(["/later"]);
  expect(links.describe("/later")).toMatchObject({ acked: at(0), tail: at(0), hasPending: false });
  grow(ends, links, "/later", head("/later", at(3)));
  expect(links.firstPending).toBe("/later");
});

test("a pattern never matches the subscription's own wake stream", () => {
  const ends = new StreamEnds();
  const links = new SubscriptionLinks(ends, "**", "/wake/pool");
  expect(links.follows("/wake/pool")).toBe(false);
  expect(links.follows("/wake/other")).toBe(true);
});

test("a snapshot holds pending streams first, and others only while there is room", () => {
  const { ends, links } = newLinks("**");
  for (let n = 0; n < 20; n++) grow(ends, links, `/${n}`, head(`/${n}`, at(n < 10 ? 0 : 1)));
  const paths = (pendingMax: number, othersMax: number) =>
    links.snapshot(pendingMax, othersMax).map(({ path, hasPending }) => `${path}${hasPending}`);
  expect(paths(10, 0)).toHaveLength(10);
  expect(paths(9, 100)).toHaveLength(9);
  expect(paths(10, 12)).toHaveLength(12);
  expect(paths(10, 100).slice(0, 11)).toEqual([
    ...Array.from({ length: 10 }, (_, n) => `/${n + 10}true`),
    "/0false",
  ]);
});

test("whether streams would still be pending is computed before the change is made", () => {
  const { ends, links } = newLinks("**");
  grow(ends, links, "/a", head("/a", at(10)));
  grow(ends, links, "/b", head("/b", at(10)));
  const ack = (path: string, bytes: number) =>
    [path, { isExplicit: false, cursor: at(bytes) }] as const;
  expect(links.isPendingAfter(new Map([ack("/a", 10)]))).toBe(true);
  expect(links.isPendingAfter(new Map([ack("/a", 10), ack("/b", 9)]))).toBe(true);
  expect(links.isPendingAfter(new Map([ack("/a", 10), ack("/b", 10)]))).toBe(false);
  expect(links.isPendingAfter(new Map([["/a", null], ack("/b", 10)]))).toBe(false);
});

test("a lookup neither moves an end back nor restores a deleted stream", async () => {
  const ends = new StreamEnds();
  await ends.lookUp(async (learn) => {
    ends.changed("/grown", head("/grown", at(9)));
    ends.changed("/gone", head("/gone", at(9)));
    ends.deleted("/gone");
    learn(head("/grown", at(1)));
    learn(head("/gone", at(1)));
    learn(head("/still", at(1)));
  });
  expect(ends.get("/grown")?.end).toBe(at(9));
  expect(ends.get("/gone")).toBeUndefined();
  expect(ends.get("/still")?.end).toBe(at(1));
  await ends.lookUp(async (learn) => learn(head("/gone", at(2)))); // Created again since.
  expect(ends.get("/gone")?.end).toBe(at(2));
});

function newLinks(pattern: string | null): { ends: StreamEnds; links: SubscriptionLinks } {
  const ends = new StreamEnds();
  return { ends, links: new SubscriptionLinks(ends, pattern, null) };
}

function grow(ends: StreamEnds, links: SubscriptionLinks, path: string, to: StreamHead): void {
  ends.changed(path, to);
  links.grew(path);
}

function head(path: string, end: OffsetToken): StreamHead {
  return {
    path,
    streamId: path,
    contentType: "application/json",
    isJson: true,
    lifetime: { kind: "forever" },
    start: at(0),
    end,
    isClosed: false,
    createdAtMs: 0,
    fork: null,
  };
}
