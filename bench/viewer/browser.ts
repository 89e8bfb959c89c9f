/**
 * Browser: Chromium, driven by its own protocol over a pipe. Playwright is not used here, because it
 * lets the page keep the bodies of all responses, which would be measured as the page's memory.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { CHROMIUM_FLAGS, chromiumPath } from "../../test/e2e/chromium.ts";

const VIEWPORT = { width: 1440, height: 900, deviceScaleFactor: 1, mobile: false };
const POLL_MS = 20;

/** What a call to the browser returns, by its documentation. */
type Answer = Record<string, unknown>;

export class Browser {
  readonly #child: ChildProcess;
  readonly #input: Writable;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #profile: string;
  #calls = 0;

  private constructor(child: ChildProcess, profile: string) {
    this.#child = child;
    this.#profile = profile;
    this.#input = child.stdio[3] as Writable;
    let text = "";
    (child.stdio[4] as Readable).setEncoding("utf8").on("data", (part: string) => {
      const messages = `${text}${part}`.split("\0");
      text = messages.pop() ?? "";
      for (const message of messages) this.#take(message);
    });
  }

  static launch(): Browser {
    if (chromiumPath === null) throw new Error("no Chromium: run scripts/test-packages.sh");
    const profile = mkdtempSync(join(tmpdir(), "verbatim-bench-profile-"));
    const flags = ["--remote-debugging-pipe", `--user-data-dir=${profile}`, ...CHROMIUM_FLAGS];
    const stdio = ["ignore", "ignore", "ignore", "pipe", "pipe"] as const;
    const child = spawn(chromiumPath, flags, { stdio: [...stdio] });

    return new Browser(child, profile);
  }

  async call(method: string, params: object = {}, sessionId?: string): Promise<Answer> {
    const id = ++this.#calls;
    const answer = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    this.#input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const { error, result } = await answer;
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result as Answer;
  }

  /** A new page; `script` runs in each document before those of the page. */
  async newPage(script: string): Promise<BrowserPage> {
    const { targetId } = await this.call("Target.createTarget", { url: "about:blank" });
    const attach = { targetId, flatten: true };
    const { sessionId } = await this.call("Target.attachToTarget", attach);
    const page = new BrowserPage(this, String(sessionId));
    await page.call("Page.enable");
    await page.call("Emulation.setDeviceMetricsOverride", VIEWPORT);
    await page.call("Page.addScriptToEvaluateOnNewDocument", { source: script });
    return page;
  }

  /** Memory that its renderers have written and share with no other process. */
  async rendererMb(): Promise<number> {
    const { processInfo } = await this.call("SystemInfo.getProcessInfo");
    const all = processInfo as { type: string; id: number }[];
    const renderers = all.filter(({ type }) => type === "renderer");
    return renderers.reduce((sum, { id }) => sum + writtenMb(id), 0);
  }

  async close(): Promise<void> {
    const exit = once(this.#child, "exit");
    await this.call("Browser.close");
    await exit;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  #take(message: string): void {
    const answer = JSON.parse(message) as Answer;
    this.#waiting.get(Number(answer.id))?.(answer);
    this.#waiting.delete(Number(answer.id));
  }
}

export class BrowserPage {
  readonly #browser: Browser;
  readonly #sessionId: string;

  constructor(browser: Browser, sessionId: string) {
    this.#browser = browser;
    this.#sessionId = sessionId;
  }

  call(method: string, params: object = {}): Promise<Answer> {
    return this.#browser.call(method, params, this.#sessionId);
  }

  /** The value of an expression, which may be a promise. */
  async evaluate<T>(expression: string): Promise<T> {
    const options = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.call("Runtime.evaluate", options);
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { value: T }).value;
  }

  /** Waits until an expression is true, and returns its value. */
  async until<T>(expression: string): Promise<T> {
    for (;;) {
      const value = await this.evaluate<T>(expression);
      if (value) return value;
      await sleep(POLL_MS);
    }
  }
}

function writtenMb(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(/^Private_Dirty: +(\d+) kB/m.exec(text)?.[1] ?? 0) / 1e3;
}
