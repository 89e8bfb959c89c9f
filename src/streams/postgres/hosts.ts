/**
 * Hosts: the servers that a URL names, as libpq does: `postgres://user@one,two:5433/database`, or
 * `?host=one,two&port=5432,5433`. Streams are written, so only a server that is not read-only is
 * used (`target_session_attrs=read-write`, which is the default here).
 */

import { badOption } from "../../core/base/choice.ts";

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(\/[^?]*)?(?:\?(.*))?$/;
const WRITING = ["read-write", "primary"];

/** One URL for each server, in their order. Throws BAD_SETTING. */
export function hostUrls(url: string): readonly string[] {
  const [, start = "", authority = "", path = "", query = ""] = PARTS.exec(url) ?? [];
  const parameters = new URLSearchParams(query);
  const target = parameters.get("target_session_attrs") ?? "read-write";
  if (!WRITING.includes(target)) {
    throw badOption("target_session_attrs", "must be read-write or primary: streams are written");
  }
  parameters.delete("target_session_attrs");
  const urls =
    authority === ""
      ? namedHosts(parameters).map((each) => `${start}${path}${each}`)
      : authority.split(",").map((host) => `${start}${host}${path}${written(parameters)}`);
  // Without a host, the driver takes it from the parameters or from the environment.
  if (authority !== "" && !urls.every((each) => URL.canParse(each))) {
    throw badOption("url", "has a host or a port that is not one: postgres://user@host:5432/name");
  }
  return urls;
}

/** The parameters for each host that they name. */
function namedHosts(parameters: URLSearchParams): string[] {
  const hosts = parameters.get("host")?.split(",") ?? [];
  if (hosts.length < 2) return [written(parameters)];
  const ports = parameters.get("port")?.split(",") ?? [];
  return hosts.map((host, n) => {
    const own = new URLSearchParams(parameters);
    own.set("host", host);
    const port = ports[n] ?? ports[0];
    if (port !== undefined) own.set("port", port);
    return written(own);
  });
}

function written(parameters: URLSearchParams): string {
  // The driver does not read a + as a space.
  return parameters.size === 0 ? "" : `?${String(parameters).replaceAll("+", "%20")}`;
}

/** A host for messages, without user and password. */
export function hostName(url: string): string {
  const [, , authority = "", , query = ""] = PARTS.exec(url) ?? [];
  return authority || (new URLSearchParams(query).get("host") ?? "the default host");
}
