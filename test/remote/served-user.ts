/** A server in its own process, run by a user of the command line, with a token for everything. */

import assert from "node:assert/strict";
import { VerbatimClient } from "../../src/doors/client.ts";
import { CliUser, type Running } from "../cli/cli.ts";
import { makeToken } from "../server/auth/token-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";

/** Below this are the streams that are sent to the folder `laptop` (`ServedUser.env`). */
export const SENT = "/sessions/laptop/@desk/ada";

export class ServedUser {
  readonly user: CliUser;
  readonly data = tempDirectory();
  /** An empty directory: the server has no sessions but those that it receives. */
  readonly #empty = tempDirectory();
  token = "";
  url = "";
  #running: Running | null = null;

  readonly #more: readonly string[];

  private constructor(user: CliUser, more: readonly string[]) {
    this.user = user;
    this.#more = more;
  }

  /** `more`: further arguments of `serve`. */
  static async start(user = new CliUser(), more: readonly string[] = []): Promise<ServedUser> {
    const served = new ServedUser(user, more);
    served.token = (await makeToken(served.data)).token;
    await served.restart();
    return served;
  }

  get client(): VerbatimClient {
    return new VerbatimClient({ url: this.url, token: this.token });
  }

  get env() {
    return { VERBATIM_TOKEN: this.token, VERBATIM_SENDER: "ada@desk" };
  }

  /** Kills it as a power cut would, and starts it again at the same address. */
  async restart(): Promise<void> {
    await this.#running?.kill();
    const port = this.url === "" ? "0" : new URL(this.url).port;
    const args = ["serve", "--port", port, "--data", this.data, "--root", this.#empty];
    const running = this.user.start([...args, ...this.#more]);
    this.#running = running;
    const line = (await running.line()) ?? assert.fail(running.stderr);
    [this.url] = /http:\/\/[^/\s]+/.exec(line) ?? assert.fail(line);
    // The server listens before it has recovered.
    await until(async () => (await fetch(`${this.url}/ready`)).ok, "the server is ready");
  }

  /** The bytes of a stream; null: there is none. */
  async stream(path: string): Promise<Buffer | null> {
    const pieces: Uint8Array[] = [];
    for (let offset = "-1"; ; ) {
      const headers = { Authorization: `Bearer ${this.token}` };
      const response = await fetch(`${this.url}/v1/stream${path}?offset=${offset}`, { headers });
      if (response.status === 404) return null;
      pieces.push(new Uint8Array(await response.arrayBuffer()));
      offset = response.headers.get("Stream-Next-Offset") ?? "";
      if (response.headers.get("Stream-Up-To-Date") === "true") return Buffer.concat(pieces);
    }
  }
}
