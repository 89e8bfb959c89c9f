/** Followed store: a store whose sessions are sent to a server. */

import type { Host } from "../../core/base/host.ts";
import { type Follower, Store } from "../../sessions/store/store.ts";
import { checkStoreOptions, type StoreOptions } from "../../sessions/store/store-options.ts";
import { Sender } from "./delivery/sender.ts";
import { remoteOf } from "./remote-url.ts";

type Warn = (warning: string) => void;

/** Throws BAD_SETTING. Closing the store waits a bounded time for the server. */
export async function openFollowedStore(host: Host, options: StoreOptions): Promise<Store> {
  checkStoreOptions(options);
  const warn: Warn = (warning) => process.emitWarning(warning, "VerbatimWarning");
  const { remote = "", onWarning = warn } = options;
  const sender = await Sender.open({ host, remote: remoteOf(remote, "remote"), onWarning });
  sender.sendOthers();
  return Store.open(host, options, followerOf(sender, onWarning));
}

/** A session that cannot be followed is recorded all the same. */
export function followerOf(sender: Sender, onWarning: Warn): Follower {
  return {
    async follow({ dialect, root, logId, path }, end) {
      const files = { path: logId, file: logId };
      try {
        return await sender.follow(
          { dialect: dialect.name, root, ...files, generation: null },
          end,
        );
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        onWarning(`${path} is recorded, but not sent: ${reason}`);
        return () => {};
      }
    },
    close: () => sender.close(),
  };
}
