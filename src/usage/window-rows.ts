/** Window rows: counts the bytes of a session that is not a plain file, such as a compressed one. */

import type { Host } from "../base/host.ts";
import { SessionWindow } from "../listing/session-window.ts";
import type { Session } from "../store/session.ts";
import type { Counted } from "./describe.ts";
import { scopeIn } from "./scan/file-scan.ts";
import type { Scanner } from "./scan/scanner.ts";

const PIECE_BYTES = 4 * 1024 * 1024;
const LF = 0x0a;

export async function countBytes(
  host: Host,
  session: Session,
  scanner: Scanner,
  name: string,
): Promise<Counted> {
  const window = await SessionWindow.open(host, session);
  const { log } = window;
  scanner.begin(null);
  try {
    let held: Buffer = Buffer.alloc(0);
    for (let at = 0; at < log.bytesEnd; at += PIECE_BYTES) {
      const piece = await log.bytes(at, at + PIECE_BYTES);
      const bytes = held.length === 0 ? piece : Buffer.concat([held, piece]);
      const end = bytes.lastIndexOf(LF) + 1;
      scanner.scan(bytes, 0, end, at - held.length);
      held = bytes.subarray(end);
    }
    if (held.length > 0) scanner.scan(held, 0, held.length, log.bytesEnd - held.length);
  } finally {
    window.close();
  }
  const { set, about } = scanner;
  return { reached: null, rowCount: set.endFile(scopeIn(about) ?? name), about };
}
