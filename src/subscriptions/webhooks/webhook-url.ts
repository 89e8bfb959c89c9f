/**
 * Webhook URLs: which URLs the server may call.
 *
 * A server that calls any URL can be made to call what only it can reach: its own machine, its
 * network, its cloud's metadata (SSRF). So a URL is checked when the subscription is created and
 * before each delivery, and the addresses of its name are checked on connecting (`webhook.ts`).
 *
 * `https:` to a public host is allowed. With local webhooks allowed also `http:` to `localhost` or
 * 127.0.0.x. The check uses the parsed URL, which is also what is connected to: an address written
 * in octal, hex or as one number is that address.
 */

import { isIP } from "node:net";
import { SUBSCRIPTION_LIMITS } from "../../base/limits.ts";
import { isLocalAddress, isPublicAddress } from "./addresses.ts";

export type JudgedUrl =
  | { readonly url: URL; readonly isLocal: boolean; readonly fault: null }
  | { readonly url: null; readonly fault: string };

/** Name endings that only have a meaning within one machine or network. */
const LOCAL_NAMES = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|home\.arpa)$/;

export function judgeWebhookUrl(text: string, allowLocal: boolean): JudgedUrl {
  if (text.length > SUBSCRIPTION_LIMITS.urlCharsMax)
    return refusedUrl(`it is longer than ${SUBSCRIPTION_LIMITS.urlCharsMax} characters`);
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return refusedUrl("it is not a URL");
  }
  if (url.username !== "" || url.password !== "")
    return refusedUrl("it contains a user or password");
  if (url.protocol === "http:") return judgeLocal(url, allowLocal);
  if (url.protocol !== "https:") return refusedUrl("it must start with https:");
  const fault = hostFault(hostOf(url));
  return fault === null ? { url, isLocal: false, fault } : refusedUrl(fault);
}

/** The host without brackets and without a final dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

function judgeLocal(url: URL, allowLocal: boolean): JudgedUrl {
  const host = hostOf(url);
  const isLocal = host === "localhost" || (isIP(host) === 4 && isLocalAddress(host));
  if (!isLocal) return refusedUrl("it must start with https:");
  if (!allowLocal) {
    return refusedUrl("webhooks to this machine are off; serve with --allow-local-webhooks");
  }
  return { url, isLocal, fault: null };
}

function hostFault(host: string): string | null {
  if (isIP(host) !== 0) {
    return isPublicAddress(host) ? null : "its address is not a public one";
  }
  if (LOCAL_NAMES.test(host) || !host.includes(".")) return "its host is not a public name";
  return null;
}

function refusedUrl(fault: string): JudgedUrl {
  return { url: null, fault };
}
