/** Followed store: a store whose sessions are sent to a server. */

import type { Host } from "../base/host.ts";
import { Store } from "../store/store.ts";
import { checkStoreOptions, type StoreOptions } from "../store/store-options.ts";
import { remoteOf } from "./remote-url.ts";
import { Sender } from "./sending/sender.ts";

/** Throws BAD_SETTING. Closing the store waits a bounded time for the server. */
export async function openFollowedStore(host: Host, options: StoreOptions): Promise<Store> {
  checkStoreOptions(options);
  const warn = (warning: string) => process.emitWarning(warning, "VerbatimWarning");
  const { remote = "", onWarning = warn } = options;
  const sender = await Sender.open({ host, remote: remoteOf(remote, "remote"), onWarning });
  sender.sendOthers();
  return new Store(host, options, sender);
}
