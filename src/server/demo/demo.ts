/**
 * Demo: sessions to look at for who has none of their own, in a root of their own.
 *
 * DM1  It lies in the user's cache directory and nowhere else: never in a store of the user's. What
 *      is deleted on request is that one directory, whose path nothing of a request has a part in.
 * DM2  Once removed it stays away; while the user has sessions of their own it is not shown.
 * DM3  They are real sessions: written by the store, signed by the user's key, which is made as by
 *      everything that signs when there is none.
 *
 * Why so: docs/decisions/0011-demo-sessions.md.
 */

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../../base/host.ts";
import { eachLog } from "../../catalog/find.ts";
import { findStores } from "../../listing/find-stores.ts";
import { LAYOUTS } from "../../store/layouts.ts";
import { Store } from "../../store/store.ts";
import {
  DEMO_AGENT,
  DEMO_CHILD,
  DEMO_CHILD_AFTER,
  DEMO_CHILD_AGENT,
  DEMO_MODEL,
  DEMO_TURNS,
} from "./demo-sessions.ts";

/** Written last: without it, what lies there is half a demo. */
const READY = "ready";
const REMOVED = "removed";

export class Demo {
  readonly root: string;
  readonly #host: Host;
  #isShown = false;

  constructor(host: Host, root: string) {
    this.#host = host;
    this.root = root;
  }

  /** Whether the demo's root is among those that are served. */
  get isShown(): boolean {
    return this.#isShown;
  }

  /** Shows it, made when it is not there, unless there are sessions already (DM2). */
  async showWhenEmpty(cwd: string): Promise<void> {
    if (this.#is(REMOVED) || hasSessions(cwd)) return;
    if (!this.#is(READY)) await this.#make();
    this.#isShown = true;
  }

  /** For good. */
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
    const store = new Store(this.#host, {
      ...{ dialect: "rye", root: this.root, sign: true, durability: "os" },
      onWarning: () => {},
    });
    try {
      await write(store);
    } finally {
      await store.close();
    }
    writeFileSync(join(this.root, READY), "", { mode: 0o600 });
  }
}

async function write(store: Store): Promise<void> {
  const parent = await store.create({ agent: DEMO_AGENT, wait: true });
  const child = await store.create({ agent: DEMO_CHILD_AGENT, wait: true });
  const model = DEMO_MODEL;
  await child.appendNative({ type: "thread_start", model, parent_thread_id: parent.id });
  for (const entry of DEMO_CHILD) await child.append(entry);
  await parent.append({ kind: "start", model });
  for (const [at, entries] of DEMO_TURNS.entries()) {
    for (const entry of entries) await parent.append(entry);
    if (at !== DEMO_CHILD_AFTER) continue;
    const part = { type: "child", session: child.id, agent: DEMO_CHILD_AGENT } as const;
    await parent.append({ kind: "other", parts: [part] });
  }
}

/** Whether there is any session where a server looks for them from here, or may be. */
function hasSessions(cwd: string): boolean {
  let isHidden = false;
  const onUnreadable = () => {
    isHidden = true;
  };
  for (const { dialect, root } of findStores({ cwd })) {
    for (const _ of eachLog(root, LAYOUTS[dialect], { onUnreadable })) return true;
  }
  return isHidden;
}
