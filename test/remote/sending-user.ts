/** A user whose sessions are sent: a store with one log, a state directory, and a server. */

import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { OutgoingSession } from "../../src/guard/remote/delivery/outbox.ts";
import { Sender, type SessionSenderOptions } from "../../src/guard/remote/delivery/sender.ts";
import { remoteOf } from "../../src/guard/remote/remote-url.ts";
import { streamOf } from "../../src/guard/remote/session-paths.ts";
import { tempDirectory } from "../support/temp-directory.ts";

export const FOLDER = "laptop";
export const SENDER = { machine: "desk", user: "ada" };
const DIALECT = "homeagent";
/** As the layout of the dialect has it. */
const LOG = "agents/cook/sessions/dinner.jsonl";

export class SendingUser {
  readonly state: string;
  readonly root: string;
  readonly warnings: string[] = [];
  readonly session: OutgoingSession;
  readonly stream = streamOf(
    { folder: FOLDER, sender: SENDER, dialect: DIALECT, generation: null },
    LOG,
  );

  constructor({ root = tempDirectory(), state = tempDirectory() } = {}) {
    this.root = root;
    this.state = state;
    this.session = { dialect: DIALECT, root, path: LOG, file: LOG, generation: null };
    mkdirSync(dirname(this.path), { recursive: true });
    if (!existsSync(this.path)) writeFileSync(this.path, "");
  }

  get path(): string {
    return join(this.root, LOG);
  }

  /** The bytes of the log. */
  get bytes(): Buffer {
    return readFileSync(this.path);
  }

  append(...texts: readonly string[]): void {
    appendFileSync(this.path, texts.map((text) => `${JSON.stringify({ text })}\n`).join(""));
  }

  appendSidecar(text: string): void {
    appendFileSync(`${this.path}.checkpoints`, text);
  }

  /** Another process: it knows nothing but what is on the disk. */
  async sender(url: string, options: Partial<SessionSenderOptions> = {}): Promise<Sender> {
    const sender = await Sender.open({
      host: nodeHost,
      remote: remoteOf({ url: `${url}/${FOLDER}`, sender: "ada@desk" }, "remote"),
      stateDirectory: this.state,
      closeMs: 60_000,
      onWarning: (warning) => this.warnings.push(warning),
      ...options,
    });
    onTestFinished(async () => {
      await sender.close();
    });
    return sender;
  }

  /** Sends the log once, from a new process; throws why it was not delivered. */
  async send(url: string, options: Partial<SessionSenderOptions> = {}): Promise<void> {
    const sender = await this.sender(url, options);
    const { left } = await sender.send([this.session]);
    await sender.close();
    const [first] = left;
    if (first) throw new Error(first.problem);
  }

  /** What the server has. */
  async sent(url: string, stream = this.stream): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let offset = "-1"; ; ) {
      const response = await fetch(`${url}/v1/stream${stream}?offset=${offset}`);
      if (response.status === 404) return Buffer.from("(no stream)");
      pieces.push(Buffer.from(await response.arrayBuffer()));
      offset = response.headers.get("Stream-Next-Offset") ?? "";
      if (response.headers.get("Stream-Up-To-Date") === "true") return Buffer.concat(pieces);
    }
  }
}
