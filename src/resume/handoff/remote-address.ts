/**
 * Remote address: which repository and commit may be named in a bundle. Both come from a file that
 * somebody sent, and go to people and to git: `ext::sh -c …` and `ssh://-oProxyCommand=…` run programs,
 * a path names a file of the reader's, and a word that begins with `-` is an option.
 */

const SCHEMES: readonly string[] = ["https:", "ssh:", "git:"];
/** `user@host:path`, as git and scp write it; a host has a dot, so that no drive is one. */
const SCP = /^(?:[^@/\s]+@)?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+):([^\s?#:]+)$/;
/** A name, or an IPv6 address in brackets; and a port. */
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;
/** What a URL is made of, as far as it needs no escaping in a shell: no quotes, blanks or controls. */
const PATH = /^\/[A-Za-z0-9._~%!@+,:=/-]*$/;
const ADDRESS_CHARS_MAX = 2048;
/** Of SHA-1 or SHA-256. */
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** A remote's address as others may know it, without credentials; null for what is none. */
export function remoteAddress(url: string): string | null {
  if (url.length > ADDRESS_CHARS_MAX) return null;
  const [, scpHost, scpPath] = SCP.exec(url) ?? [];
  const text = scpHost === undefined ? url : `ssh://${scpHost}/${scpPath?.replace(/^\/+/, "")}`;
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (!parsed || !SCHEMES.includes(parsed.protocol)) return null;
  const { protocol, host, pathname } = parsed;
  return HOST.test(host) && PATH.test(pathname) ? `${protocol}//${host}${pathname}` : null;
}

/** Whether a text is such an address already, spelt as we spell it. */
export function isRemoteAddress(text: string): boolean {
  return remoteAddress(text) === text;
}

export function isCommit(text: string): boolean {
  return COMMIT.test(text);
}
