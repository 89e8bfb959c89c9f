/** Signing user: the user's key, trust and pins, for the streams that their server signs. */

import type { Host } from "../../base/host.ts";
import { userPaths } from "../../base/node-paths.ts";
import { STREAMS } from "../../proof/envelopes.ts";
import { Heads, type RootNames } from "../../signing/heads/heads.ts";
import { rootNames } from "../../signing/heads/session-head.ts";
import { loadOwnSigners, loadSigner } from "../../signing/keys/keys.ts";
import { Trust, transcriptKeys } from "../../signing/trust/trust.ts";
import type { StreamSigner } from "./stream-signing.ts";

/** Creates a key if the user has none. Throws when keys, trust or pins are invalid. */
export async function loadStreamSigner(
  host: Host,
  onWarning: (warning: string) => void,
): Promise<StreamSigner> {
  const places = userPaths();
  const signer = await loadSigner(host, places);
  const { signers: own } = await loadOwnSigners(places, signer);
  const trust = await Trust.load(places);
  const heads = new Heads({ host, stateDirectory: places.stateDirectory, onWarning });
  const book = await heads.read();
  if (book.problem !== null) onWarning(book.problem);
  const keysFor = (path: string) => transcriptKeys(trust, path);
  return { signer, own, keysFor, heads, book, onWarning };
}

/** The names of a data directory in pins; it may be gone. */
export function namesOfData(host: Host, path: string): Promise<RootNames> {
  return rootNames(host, { dialect: STREAMS, root: path });
}
