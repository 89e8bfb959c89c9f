import { expect, test } from "vitest";
import { webhookConfig } from "../../../test/support/subscribing.ts";
import { Followers } from "./followed-streams.ts";
import { StreamEnds } from "./links.ts";
import { Subscription } from "./subscription.ts";

test("a stream's followers are updated when subscriptions are added, removed or change a link", () => {
  const followers = new Followers();
  expect(followers.of("/a/1")).toEqual([]);
  const some = subscription("some", "a/*");
  const all = subscription("all", "**");
  followers.add(some);
  expect(ids(followers, "/a/1")).toEqual(["some"]);
  followers.add(all);
  expect(ids(followers, "/a/1")).toEqual(["some", "all"]);
  expect(ids(followers, "/b")).toEqual(["all"]);
  some.links.apply(new Map([["/b", { isExplicit: true, cursor: null }]]));
  followers.changed("/b");
  expect(ids(followers, "/b")).toEqual(["some", "all"]);
  followers.remove(all);
  expect(ids(followers, "/a/1")).toEqual(["some"]);
  expect(followers.count).toBe(1);
});

test("with a thousand subscriptions and ten thousand streams, no append has to wait", () => {
  // Method: a million lookups; matching each pattern each time would take minutes.
  const followers = new Followers();
  for (let n = 0; n < 1000; n++) followers.add(subscription(`s${n}`, `tenant-${n}/**`));
  const paths = Array.from({ length: 10_000 }, (_, n) => `/tenant-${n % 2000}/log-${n}`);
  const before = process.cpuUsage();
  let found = 0;
  for (let pass = 0; pass < 100; pass++) {
    for (const path of paths) found += followers.of(path).length;
  }
  const { user, system } = process.cpuUsage(before);
  expect(found).toBe(100 * 5000);
  expect((user + system) / 1e6).toBeLessThan(60);
});

function subscription(id: string, pattern: string): Subscription {
  const config = webhookConfig({ pattern });
  const identity = { id, uid: id, config, createdAtMs: 0, secret: new Uint8Array(32) };
  return new Subscription(identity, new StreamEnds());
}

function ids(followers: Followers, path: string): string[] {
  return followers.of(path).map(({ id }) => id);
}

test("few prefixes are watched one by one, many as all streams, without those that others cover", () => {
  const followers = new Followers();
  const add = (id: string, pattern: string) => followers.add(subscription(id, pattern));
  for (const pattern of ["b/*", "a/b/**", "a/**", "a-b/*", "a/b/c"]) add(pattern, pattern);
  expect([...followers.prefixes].sort()).toEqual(["/a", "/b/"]);
  for (let n = 0; n < 14; n++) add(`${n}`, `c/${n}/*`);
  expect(followers.prefixes.length).toBe(16);
  add("one more", "d/*");
  expect(followers.prefixes).toEqual(["/"]);
});
