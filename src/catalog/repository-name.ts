/**
 * Repository name: `owner/name` of a git remote's URL. Nothing else of the URL is kept: it may hold
 * a password.
 *
 *     git@example.org:acme/shop.git          acme/shop
 *     https://me:token@example.org/acme/shop  acme/shop
 *     /srv/git/shop.git                       shop
 */

/** Longer names do not occur. */
const NAME_MAX = 100;

export function repositoryName(url: string): string | null {
  const path = pathOf(url.trim());
  if (path === null) return null;
  const names = path.text
    .replace(/\/+$/, "")
    .replace(/\.git$/, "")
    .split("/");
  const name = names.slice(path.isRemote ? -2 : -1).join("/");
  return /^[\w.+~-]+(?:\/[\w.+~-]+)?$/.test(name) && name.length <= NAME_MAX ? name : null;
}

function pathOf(url: string): { readonly text: string; readonly isRemote: boolean } | null {
  const [, scheme, rest = ""] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(url) ?? [];
  if (scheme !== undefined) {
    const slash = rest.indexOf("/");
    const isRemote = scheme.toLowerCase() !== "file";
    return slash < 0 ? null : { text: rest.slice(slash + 1).split(/[?#]/)[0] ?? "", isRemote };
  }
  const [, short] = /^[^/:]+:(.+)$/.exec(url) ?? []; // user@host:path
  if (short !== undefined) return { text: short.replace(/^\/+/, ""), isRemote: true };
  return url.startsWith("/") ? { text: url, isRemote: false } : null;
}
