/**
 * Remote address: which repository and commit may be named in a bundle. Both come from an untrusted
 * file, and go to people and to git: `ext::sh -c …` and `ssh://-oProxyCommand=…` run programs, a
 * path names a file of the reader's, and a word that begins with `-` is an option.
 */

const SCHEMES: readonly string[] = ["https:", "ssh:", "git:"];
/**
 * `user@host:path`, as git and scp write it; a host has a dot, so that a drive letter is not one.
 */
const SCP = /^(?:[^@/\s]+@)?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+):([^\s?#:]+)$/;
/** A name, or an IPv6 address in brackets; and a port. */
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;
/** Characters of a URL that need no escaping in a shell: no quotes, blanks or controls. */
const PATH = /^\/[A-Za-z0-9._~%!@+,:=/-]*$/;
const ADDRESS_CHARS_MAX = 2048;
/** Of SHA-1 or SHA-256. */
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** A remote's address for publication, without credentials; null when it is not one. */
export function remoteAddress(url: string): string | null {
  if (url.length > ADDRESS_CHARS_MAX) return null;
  const [, scpHost, scpPath] = SCP.exec(url) ?? [];
  const text = scpHost === undefined ? url : `ssh://${scpHost}/${scpPath?.replace(/^\/+/, "")}`;
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (!parsed || !SCHEMES.includes(parsed.protocol)) return null;
  const { protocol, host, pathname } = parsed;
  return HOST.test(host) && PATH.test(pathname) ? `${protocol}//${host}${pathname}` : null;
}

/** Whether a text is such an address, in our spelling. */
export function isRemoteAddress(text: string): boolean {
  return remoteAddress(text) === text;
}

export function isCommit(text: string): boolean {
  return COMMIT.test(text);
}
