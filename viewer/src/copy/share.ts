/**
 * Share: fetches the copy of a share, and newer ones as long as it is live.
 *
 * The token is in the fragment of the page's address, which no browser sends; it goes to the server
 * in a header, without cookies.
 */

const GONE = "This link is not valid: it has expired, was revoked, or never existed.";
const ENDED = "This share has ended. What you see was loaded before that.";
const LIVE = "Live: new turns appear here once they are signed and scanned.";
const NOTHING_YET = "Live: nothing is shown yet. A turn appears once it is signed and scanned.";
const WAIT_MS = 2_000;

/** Resolves when there is nothing to wait for any more. */
export async function followShare(
  token: string,
  shown: (copy: Blob) => void,
  tell: (text: string | null) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let version: string | null = null; !signal.aborted; ) {
    const response: Response | null = await ask(token, version, signal);
    const status = response?.status ?? 0;
    if (response !== null && (status === 200 || status === 204)) {
      if (status === 200) shown(await response.blob());
      version = response.headers.get("Share-Version");
      const isLive = response.headers.get("Share-Live") === "yes";
      tell(isLive ? (version === "0" ? NOTHING_YET : LIVE) : null);
      if (!isLive) return;
    } else if (status === 404) {
      return tell(version === null ? GONE : ENDED);
    } else {
      tell(
        status === 0
          ? "The server does not answer. Trying again …"
          : `The server is busy (${status}). Trying again …`,
      );
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
  }
}

async function ask(token: string, version: string | null, signal: AbortSignal) {
  const url = new URL(version === null ? "v1/share" : `v1/share?after=${version}`, base());
  const headers = { Authorization: `Bearer ${token}` };
  const options = { headers, signal, cache: "no-store", credentials: "omit" } as const;
  return fetch(url, options).catch((cause) => {
    signal.throwIfAborted();
    return cause instanceof TypeError ? null : Promise.reject(cause);
  });
}

function base(): string {
  return location.href.split("#")[0] ?? "";
}
