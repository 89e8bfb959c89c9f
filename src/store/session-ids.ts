/**
 * Session ids: how a new session comes by its id, among all who may want the same.
 *
 * SI1  An id is won by making what only one can make: a thread's directory, a session's file.
 */

import { randomUUID } from "node:crypto";
import { basename, dirname, relative } from "node:path";
import { badOption } from "../base/choice.ts";
import { errnoOf, ioError, VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { sessionIdOf } from "../dialects/claude/session-id.ts";
import type { DialectName } from "../dialects/dialect.ts";
import { datedSessionId } from "../dialects/entire/session-id.ts";
import { newThreadId } from "../dialects/rye/thread-id.ts";
import { makeOwnDirectory } from "./own-directory.ts";

interface Where {
  readonly dialect: DialectName;
  readonly root: string;
  /** Where the log of a session lies. */
  readonly pathOf: (id: string) => string;
}

export class SessionIds {
  readonly #host: Host;
  readonly #dialect: DialectName;
  readonly #root: string;
  readonly #pathOf: (id: string) => string;
  /** rye: the last second that a directive was given here, so that many creates do not try all. */
  readonly #lastSeconds = new Map<string, number>();

  constructor(host: Host, { dialect, root, pathOf }: Where) {
    this.#host = host;
    this.#dialect = dialect;
    this.#root = root;
    this.#pathOf = pathOf;
  }

  async winNew(agent: string | null, wait: boolean): Promise<string> {
    const isDated = this.#dialect === "entire" || this.#dialect === "verbatim";
    if (!isDated && agent === null) {
      throw badOption("agent", "is missing: a new session needs it (rye: a directive), or an id");
    }
    if (this.#dialect === "rye") {
      return wait ? this.winThreadId(agent ?? "", true) : this.#winNextThreadId(agent ?? "");
    }
    const uuid = randomUUID();
    const id = isDated ? datedSessionId(Date.now(), uuid) : this.#idOf(agent ?? "", uuid);
    await this.win(id);
    return id;
  }

  #idOf(agent: string, uuid: string): string {
    const isClaude = this.#dialect === "claude";
    return isClaude ? sessionIdOf({ projectKey: agent, sessionId: uuid }) : `${agent}/${uuid}`;
  }

  /** rye: wins the id of this second, or of the next one that is free, without waiting for it. */
  async #winNextThreadId(directive: string): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    while (true) {
      // Read again each time: others in this process win seconds meanwhile.
      const second = Math.max(now, (this.#lastSeconds.get(directive) ?? 0) + 1);
      this.#lastSeconds.set(directive, second);
      const id = newThreadId(directive, second * 1000);
      if (await this.win(id)) return id;
    }
  }

  /** rye: wins `{directive}-{epoch_seconds}`, this second's or, when told to wait, a later one's. */
  async winThreadId(directive: string, wait: boolean): Promise<string> {
    while (true) {
      const nowMs = Date.now();
      const id = newThreadId(directive, nowMs);
      if (await this.win(id)) return id;
      if (!wait) throw sessionExists(id);
      await this.#host.clock.sleep(1000 - (nowMs % 1000));
    }
  }

  /** Makes what only one can make: a thread's directory, a session's file. */
  async win(id: string): Promise<boolean> {
    const path = this.#pathOf(id);
    try {
      return await this.#make(path);
    } catch (cause) {
      throw ioError(path, "making", cause);
    }
  }

  async #make(path: string): Promise<boolean> {
    const { files } = this.#host;
    if (this.#dialect === "rye") {
      await files.openDirectory(this.#root, { create: true }).then((root) => root.close());
      return files.makeDirectory(dirname(path), { root: this.#root });
    }
    await makeOwnDirectory(this.#host, this.#root, relative(this.#root, path));
    const directory = await files.openDirectory(dirname(path), { create: true, root: this.#root });
    try {
      directory.open(basename(path), "new").close();
      return true;
    } catch (cause) {
      if (errnoOf(cause) === "EEXIST") return false;
      throw cause;
    } finally {
      directory.close();
    }
  }
}

export function sessionExists(id: string): VerbatimError {
  return new VerbatimError(
    "SESSION_EXISTS",
    `the session ${id} is there already; open it to go on, or choose another id`,
    { session: id },
  );
}
