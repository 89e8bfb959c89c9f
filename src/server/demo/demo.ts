/**
 * Demo: example sessions for users that have none, in a root of their own.
 *
 * - It is in the user's cache directory, never in a store of the user. A request to remove it
 *   deletes that directory; no part of its path comes from a request.
 * - Once removed it is never shown again, and it is hidden while the user has sessions, or the
 *   server those of others.
 * - The sessions are real: written by the store and signed with the user's key, which is created if
 *   missing. Their heads are not pinned: a cache may be deleted.
 *
 * Why: docs/decisions/0011-demo-sessions.md.
 */

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { boolean, object, ref } from "../../client/schema.ts";
import type { Host } from "../../core/base/host.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { demoRoot } from "../../core/base/node-paths.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import { iterateLogs } from "../../dialects/find.ts";
import { SAMPLE_DIALECT } from "../../dialects/registry.ts";
import { findStores } from "../../sessions/list/find-stores.ts";
import type { Session } from "../../sessions/store/session.ts";
import { Store } from "../../sessions/store/store.ts";
import type { ServerContext } from "../context.ts";
import { answer, answerJson, methodNotAllowed, newHeaders } from "../http/answer.ts";
import { content, page, refusals } from "../openapi/describe.ts";
import type { MountDescription, MountRequest, OpenMount, SharedParts } from "../router/mount.ts";
import { DEMO_PATH } from "../router/paths.ts";
import {
  DEMO_AGENT,
  DEMO_CHILD,
  DEMO_CHILD_AFTER,
  DEMO_CHILD_AGENT,
  DEMO_MODEL,
  DEMO_TURNS,
} from "./demo-sessions.ts";

/** Written last: without it the demo is incomplete. */
const READY = "ready";
const REMOVED = "removed";

export class Demo {
  readonly root: string;
  readonly #host: Host;
  readonly #hasReceived: () => boolean;
  #isShown = false;

  constructor(host: Host, root: string, hasReceived: () => boolean) {
    this.#host = host;
    this.root = root;
    this.#hasReceived = hasReceived;
  }

  /** Whether the demo's root is served. */
  get isShown(): boolean {
    return this.#isShown && !this.#hasReceived();
  }

  /** Shows the demo, and creates it if necessary, unless there are sessions already. */
  async showWhenEmpty(cwd: string): Promise<void> {
    if (this.#is(REMOVED) || (await hasSessions(cwd))) return;
    if (!this.#is(READY)) await this.#make();
    this.#isShown = true;
  }

  /** Permanently. */
  remove(): void {
    this.#isShown = false;
    rmSync(this.root, { recursive: true, force: true });
    mkdirSync(this.root, { recursive: true, mode: 0o700 });
    writeFileSync(join(this.root, REMOVED), "", { mode: 0o600 });
  }

  #is(name: string): boolean {
    return existsSync(join(this.root, name));
  }

  async #make(): Promise<void> {
    rmSync(this.root, { recursive: true, force: true });
    mkdirSync(this.root, { recursive: true, mode: 0o700 });
    await loadDialects([SAMPLE_DIALECT]);
    const store = new Store(this.#host, {
      dialect: SAMPLE_DIALECT,
      root: this.root,
      sign: true,
      durability: "os",
      remember: false,
      onWarning: () => {},
    });
    let written: readonly Session[] = [];
    try {
      written = await write(store);
    } finally {
      await store.close();
    }
    for (const session of written) await store.forget(session);
    writeFileSync(join(this.root, READY), "", { mode: 0o600 });
  }
}

async function write(store: Store): Promise<readonly Session[]> {
  const parent = await store.create({ agent: DEMO_AGENT, wait: true });
  const child = await store.create({ agent: DEMO_CHILD_AGENT, wait: true });
  const model = DEMO_MODEL;
  await child.appendNative({ ...child.dialect.writing?.start?.line({ parent: parent.id }), model });
  for (const entry of DEMO_CHILD) await child.append(entry);
  await parent.append({ kind: "start", model });
  for (const [at, entries] of DEMO_TURNS.entries()) {
    for (const entry of entries) await parent.append(entry);
    if (at !== DEMO_CHILD_AFTER) continue;
    const part = { type: "child", session: child.id, agent: DEMO_CHILD_AGENT } as const;
    await parent.append({ kind: "other", parts: [part] });
  }
  return [parent, child];
}

/** Whether a server started here finds any session, or might. */
async function hasSessions(cwd: string): Promise<boolean> {
  let isHidden = false;
  const onUnreadable = () => {
    isHidden = true;
  };
  for (const { dialect, root } of await findStores({ cwd })) {
    for (const _ of iterateLogs(root, dialectNamed(dialect).naming.layout, { onUnreadable }))
      return true;
  }
  return isHidden;
}

export async function demoMount(
  { options, isLocal, onFault }: ServerContext,
  { received }: SharedParts,
): Promise<OpenMount> {
  const demo = new Demo(nodeHost, demoRoot(), () => (received?.stores().length ?? 0) > 0);
  if (options.demo === true && isLocal) {
    const failed = (cause: unknown) => onFault("making the demo", cause);
    await demo.showWhenEmpty(process.cwd()).catch(failed);
  }
  return { handle: (asked) => handle(asked, demo), parts: { demo } };
}

/** Whether the demo is shown, and the request that removes it. */
async function handle({ request, response, path }: MountRequest, demo: Demo): Promise<boolean> {
  if (path !== DEMO_PATH) return false;
  const { method } = request;
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store");
  if (method === "GET" || method === "HEAD") {
    answerJson(response, 200, { isShown: demo.isShown }, headers);
  } else if (method === "DELETE") {
    demo.remove();
    answer(response, 204, headers);
  } else {
    throw methodNotAllowed("GET, HEAD, DELETE, OPTIONS");
  }
  return true;
}

export const DEMO: MountDescription = {
  paths: {
    [DEMO_PATH]: {
      ...page("getDemo", "Whether example sessions are shown", {
        200: content("application/json", ref("Demo"), "Whether they are shown"),
        ...refusals(401),
      }),
      delete: {
        operationId: "removeDemo",
        summary: "Remove the example sessions permanently",
        tags: ["server"],
        responses: { 204: { description: "Removed" }, ...refusals(401) },
      },
    },
  },
  schemas: { Demo: object({ isShown: boolean }) },
};
