/**
 * Session ids: how a new session gets its id while other processes may want the same one.
 *
 * An id is won by making what only one process can make: the session's directory, or its log.
 */

import { randomUUID } from "node:crypto";
import { basename, dirname, relative } from "node:path";
import { errnoOf, ioError, VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import type { NewIds } from "../dialects/dialect.ts";
import { makeOwnDirectory } from "./own-directory.ts";

interface Where {
  readonly newIds: NewIds | undefined;
  readonly root: string;
  /** Where the log of a session lies. */
  readonly pathOf: (id: string) => string;
}

export class SessionIds {
  readonly #host: Host;
  readonly #where: Where;
  /** Where ids name a second: the last one that an agent got here, so that few are tried. */
  readonly #lastSeconds = new Map<string, number>();

  constructor(host: Host, where: Where) {
    this.#host = host;
    this.#where = where;
  }

  /** A new id. `wait`: where ids name a second, only this second's or a later one that has come. */
  async winNew(agent: string | null, wait: boolean): Promise<string> {
    const { newIds } = this.#where;
    if (newIds?.isOfSecond) return wait ? this.winSecond(agent, true) : this.#winNext(agent);
    const id = newIds?.make(agent, Date.now(), randomUUID()) ?? randomUUID();
    await this.win(id);
    return id;
  }

  /** The id of this second, or of the next one that is free, without waiting for it. */
  async #winNext(agent: string | null): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const key = agent ?? "";
    while (true) {
      // Read again each time: other calls in this process win seconds meanwhile.
      const second = Math.max(now, (this.#lastSeconds.get(key) ?? 0) + 1);
      this.#lastSeconds.set(key, second);
      const id = this.#idAt(agent, second * 1000);
      if (await this.win(id)) return id;
    }
  }

  /** This second's id or, when told to wait, a later one's. */
  async winSecond(agent: string | null, wait: boolean): Promise<string> {
    while (true) {
      const nowMs = Date.now();
      const id = this.#idAt(agent, nowMs);
      if (await this.win(id)) return id;
      if (!wait) throw sessionExists(id);
      await this.#host.clock.sleep(1000 - (nowMs % 1000));
    }
  }

  #idAt(agent: string | null, nowMs: number): string {
    return this.#where.newIds?.make(agent, nowMs, "") ?? "";
  }

  /** Makes what only one process can make: the session's directory, or its log. */
  async win(id: string): Promise<boolean> {
    const path = this.#where.pathOf(id);
    try {
      return await this.#make(path);
    } catch (cause) {
      throw ioError(path, "making", cause);
    }
  }

  async #make(path: string): Promise<boolean> {
    const { files } = this.#host;
    const { root, newIds } = this.#where;
    if (newIds?.claimsDirectory) {
      await files.openDirectory(root, { create: true }).then((root) => root.close());
      return files.makeDirectory(dirname(path), { root: root });
    }
    await makeOwnDirectory(this.#host, root, relative(root, path));
    const directory = await files.openDirectory(dirname(path), { create: true, root: root });
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
