/**
 * The viewer as users have it: the real server on real sessions, and one Chromium for all test files of a process.
 *
 * A page that sends a request to any other server, violates its Content-Security-Policy or logs an
 * error fails the test that opened it.
 *
 *     const viewer = viewerScene(async (scene) => {
 *       await scene.write({ id: "hello-1", entries: turnOf("Say hello") });
 *     });
 *     browserTest("the list shows it", async () => {
 *       const page = await viewer.open("#/");
 *       await page.getByText("Say hello").waitFor();
 *     });
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished, test } from "vitest";
import { VerbatimClient } from "../../../src/doors/client.ts";
import { type NewEntry, openStore, type StoreOptions } from "../../../src/doors/index.ts";
import type { RunningServer } from "../../../src/server/serve.ts";
import { startServer } from "../../../src/server/serve.ts";
import { SESSION_LIMITS } from "../../../src/server/sessions/session-limits.ts";
import type { ServeOptions } from "../../../src/server/settings/serve-options.ts";
import type { StoreOptions as WideOptions } from "../../../src/sessions/store/store.ts";
import { sayable } from "../../support/signing-user.ts";
import { chromiumPath, isBrowserRequired, newContext, PAGE_WAIT_MS } from "../chromium.ts";
import { watchPage } from "../watched-page.ts";

/** Skipped without a browser; where one is required, that is a failure. */
export const browserTest = test.skipIf(chromiumPath === null && !isBrowserRequired);

export interface NewSession extends WideOptions {
  readonly id: string;
  readonly entries: readonly NewEntry[];
}

export interface WrittenSession {
  readonly id: string;
  readonly root: string;
  readonly dialect: string;
  /** Where its log is. */
  readonly path: string;
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
  /** Errors that the test causes itself: a server that stops, a token that is required. */
  readonly mayLog?: RegExp;
  /** A script that runs before those of the page, to remove a browser feature. */
  readonly before?: string;
  /** Do not open the link first, where sessions are private. */
  readonly isStranger?: boolean;
}

export class ViewerScene {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-viewer-")));
  /** Where sessions are served from. */
  readonly root = join(this.home, "project");
  readonly #faults: unknown[] = [];
  /** The environment before. */
  readonly #left = new Map<string, string | undefined>();
  #options: Partial<ServeOptions> = {};
  #server: RunningServer | null = null;
  readonly #contexts: BrowserContext[] = [];

  get url(): string {
    return this.#server?.url ?? assert.fail("the server does not run");
  }

  get client(): VerbatimClient {
    return new VerbatimClient({ url: this.url });
  }

  /** A new link, where sessions are private. */
  get link(): string | null {
    return this.#server?.newLink() ?? null;
  }

  /** Called by `viewerScene`, before the sessions are written. */
  enter(options: Partial<ServeOptions>): void {
    this.#options = options;
    for (const name of ["CONFIG", "STATE", "CACHE", "DATA"]) {
      const variable = `XDG_${name}_HOME`;
      this.#left.set(variable, process.env[variable]);
      process.env[variable] = join(this.home, name.toLowerCase());
    }
  }

  /** Writes a session through the real store: rye and signed, by default. */
  async write({ id, entries, ...options }: NewSession): Promise<WrittenSession> {
    const store = await openStore({
      dialect: "rye",
      root: this.root,
      durability: "os",
      sign: true,
      agent: "hello",
      ...options,
    } as StoreOptions);
    const session = store.session(id);
    for (const entry of sayable(store.dialect, entries)) await session.append(entry);
    await store.close();
    const { path } = session;
    return { id, root: store.root, dialect: store.dialect, path };
  }

  /** Alters a file directly: the first `from` in it becomes `to`, of the same length. */
  alter(path: string, from: string, to: string): void {
    assert.equal(Buffer.byteLength(from), Buffer.byteLength(to));
    const text = readFileSync(path, "latin1");
    assert.ok(text.includes(from), `${from} is not in the file`);
    writeFileSync(path, text.replace(from, to), "latin1");
  }

  /** A session's id in the API, by its own id. */
  async apiId(id: string): Promise<string> {
    for await (const item of this.client.sessions.all()) if (item.session === id) return item.id;
    return assert.fail(`${id} is not listed`);
  }

  async start(port = 0): Promise<void> {
    this.#server = await startServer({
      port,
      roots: [this.root],
      sessions: { ...SESSION_LIMITS, freshMs: 0, listWaitMs: PAGE_WAIT_MS },
      onFault: (what, cause) => this.#faults.push(what, cause),
      ...this.#options,
      dataDirectory: join(this.home, "streams"),
    });
  }

  /** Does something while the server does not run. `mayLog` allows what pages log about that. */
  async whileStopped(act: () => unknown): Promise<void> {
    const port = this.#server?.port ?? assert.fail("the server does not run");
    await this.#stop();
    try {
      await act();
    } finally {
      await this.start(port);
    }
  }

  async #stop(): Promise<void> {
    await this.#server?.close();
    this.#server = null;
  }

  /** A new page; it is closed, and what it did is checked, when the test is over. */
  async open(path = "#/", options: PageOptions = {}): Promise<Page> {
    const { width = 1280, height = 800, colorScheme = "light", mayLog, before } = options;
    const context = await newContext({ viewport: { width, height }, colorScheme });
    this.#contexts.push(context);
    const page = await context.newPage();
    if (before !== undefined) await page.addInitScript(before);
    const deeds: string[] = [];
    const own = `${this.url}/`;
    watchPage(page, (url) => url.startsWith(own) || /^(?:data|blob):/.test(url), deeds);
    onTestFinished(async () => {
      await context.close();
      const wrong = deeds.filter((deed) => !mayLog?.test(deed));
      assert.deepEqual(wrong, [], "what a page of ours never does");
    });
    const { link } = this;
    if (link !== null && options.isStranger !== true) await context.request.get(link);
    await page.goto(`${this.url}/${path}`, { waitUntil: "load" });
    return page;
  }

  async close(): Promise<void> {
    for (const context of this.#contexts) await context.close(); // Before its server is gone.
    await this.#stop();
    rmSync(this.home, { recursive: true, force: true });
    for (const [variable, value] of this.#left) {
      if (value === undefined) delete process.env[variable];
      else process.env[variable] = value;
    }
    assert.deepEqual(this.#faults, []);
  }
}

/** A scene for all tests of a file. */
export function viewerScene(
  prepare: (scene: ViewerScene) => Promise<unknown>,
  options: Partial<ServeOptions> = {},
): ViewerScene {
  const scene = new ViewerScene();
  beforeAll(async () => {
    if (chromiumPath === null) return;
    scene.enter(options);
    buildWhenStale();
    await prepare(scene);
    await scene.start();
  });
  afterAll(() => scene.close());
  return scene;
}

/** Another page, without loading all again: resolves when the page before is gone. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate((next) => {
    if (location.hash === next) return;
    const shown = new Promise<void>((resolve) => {
      const onFrame = () => setTimeout(resolve);
      addEventListener("hashchange", () => requestAnimationFrame(onFrame), { once: true });
    });
    location.hash = next;
    return shown;
  }, hash);
}

let attempts = 0;

/** A number for ids and texts: a test that is repeated finds what its first attempt wrote. */
export function attempt(): number {
  return ++attempts;
}

/** Prompts, failures and edits of the whole session are known. */
export async function outlineRead(page: Page): Promise<void> {
  await page.locator(".turns-head", { hasText: /\d prompt/ }).waitFor({ state: "attached" });
}

/** Opens the filter, which is folded into the bar. */
export async function openFilter(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("group", { name: "Show only" }).waitFor();
}

const project = fileURLToPath(new URL("../../..", import.meta.url));

/** `npm test` has built it; after an edit, a single file's run builds it again. */
function buildWhenStale(): void {
  const built = modifiedMs(join(project, "dist/viewer/index.html"));
  const sources = [
    "viewer",
    "src/sessions/render",
    "src/client",
    "src/trust/proof",
    "src/core/model",
    "src/core/base",
  ];
  if (sources.every((folder) => newestIn(join(project, folder)) <= built)) return;
  const vite = join(project, "node_modules/vite/bin/vite.js");
  const to = ["--outDir", join(project, "dist/viewer"), "--logLevel", "warn"];
  execFileSync(process.execPath, [vite, "build", "viewer", ...to], { cwd: project });
}

function newestIn(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const sources = names.filter((name) => !/\.test\.tsx?$|\.md$/.test(name));
  return Math.max(...sources.map((name) => modifiedMs(join(folder, name))));
}

function modifiedMs(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() ? stats.mtimeMs : 0;
}
