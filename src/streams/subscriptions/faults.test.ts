import { expect, test } from "vitest";
import { ManualTime } from "../../../test/support/manual-time.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { PULL, webhookConfig } from "../../../test/support/subscribing.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import { type LocalStore, openLocalStore } from "../files/local-store.ts";
import type { OffsetToken } from "../files/offset-token.ts";
import type { StreamStore } from "../files/stream-store.ts";
import { Subscriptions } from "./subscriptions.ts";
import type { WakeNotice } from "./wakes.ts";

// Method: a short run of a pull-wake subscription on a real store, in which one record write
// is refused: the first, then the second, and so on until every write has been refused once.
const CONFIG = webhookConfig({ ...PULL, streams: ["/named/a"], leaseTtlMs: 600_000 });

test("a write that is refused at any point changes nothing, and the request can be repeated", async () => {
  const { acked, writes } = await life(Number.POSITIVE_INFINITY, "once");
  for (let at = 0; at < writes; at++) {
    expect(await life(at, "once"), `write ${at}`).toMatchObject({ acked });
  }
});

test("a server that stops at any write continues with everything it had acknowledged", async () => {
  const { writes } = await life(Number.POSITIVE_INFINITY, "for good");
  for (let at = 0; at < writes; at++) await life(at, "for good");
});

/** Runs it; when writes fail permanently, starts a new server on the same files and continues. */
async function life(
  refusedAt: number,
  how: "once" | "for good",
): Promise<{ writes: number; acked: string }> {
  const store = await openLocalStore({ dataDirectory: tempDirectory() });
  const time = new ManualTime();
  const disk = refusing(store, refusedAt, how);
  let subscriptions = await open(disk.store, time);
  const insist = async <T>(work: (on: Subscriptions) => Promise<T>): Promise<T> => {
    try {
      return await work(subscriptions);
    } catch (cause) {
      if (!(cause instanceof VerbatimError) || cause.code !== "NO_SPACE") throw cause;
      if (how === "for good") {
        await subscriptions.stop();
        disk.heal();
        subscriptions = await open(disk.store, time);
      }
      return work(subscriptions);
    }
  };
  const none = { contentType: "application/json", body: Buffer.from("[]"), isClosed: false };
  await store.create("/wake/pool", none);
  await store.create("/events/a", { ...none, body: Buffer.from("[1]") });
  await insist((on) => on.create("p", CONFIG));
  await insist((on) => on.addStreams("p", ["/named/b"]));
  await store.create("/events/b", { ...none, body: Buffer.from("[1]") });
  await store.create("/named/b", { ...none, body: Buffer.from("[1,2]") });
  const claim = await insist((on) => on.claim("p", "w"));
  await insist((on) => ack(on, claim, ["/events/b"], false));
  await insist((on) => on.removeStream("p", "/named/a"));
  await insist((on) => ack(on, claim, ["/named/b"], true));
  time.pass(10_000); // A failure in the background is retried.
  const last = await refusal(
    insist((on) => on.claim("p", "w")),
    "SUBSCRIPTION_REFUSED",
  );
  expect(last.details.reason).toBe("NO_PENDING_WORK");
  const { links } = subscriptions.get("p");
  const acked = JSON.stringify(links.paths().map((path) => [path, links.acked(path)]));
  await insist((on) => on.remove("p"));
  await subscriptions.stop();
  disk.heal();
  const after = await open(store, time); // Removes leftovers of a refused write.
  expect(await store.records("subscription/")).toHaveProperty("size", 0);
  await after.stop();
  await store.close();
  return { writes: disk.writes(), acked };
}

async function ack(
  on: Subscriptions,
  { token, wakeId, generation, streams }: WakeNotice,
  paths: readonly string[],
  isDone: boolean,
): Promise<void> {
  const acks = streams
    .filter(({ path }) => paths.includes(path))
    .map(({ path, tail }) => ({ stream: path.slice(1), offset: tail as OffsetToken }));
  await on.ack("p", "pull-wake", { token, wakeId, generation, acks, isDone });
}

function open(store: StreamStore, time: ManualTime): Promise<Subscriptions> {
  const deliver = async () => "failed" as const;
  return Subscriptions.open({ store, host: time, deliver, onFault: () => {} }).then((opened) => {
    opened.begin();
    return opened;
  });
}

/** The store, but writing records is refused from the `at`th on: once, or until it heals. */
function refusing(store: LocalStore, at: number, how: "once" | "for good") {
  let writes = 0;
  let isHealed = false;
  const putRecord: StreamStore["putRecord"] = (key, value) => {
    const isRefused = !isHealed && (how === "once" ? writes === at : writes >= at);
    writes++;
    if (!isRefused) return store.putRecord(key, value);
    const facts = { path: "journal", end: 0, bytes: 0 };
    return Promise.reject(new VerbatimError("NO_SPACE", "refused by a test", facts));
  };
  const proxy = new Proxy<StreamStore>(store, {
    get(target, name) {
      if (name === "putRecord") return putRecord;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const heal = () => {
    isHealed = true;
  };
  return { store: proxy, heal, writes: () => writes };
}
