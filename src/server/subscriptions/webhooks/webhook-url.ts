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

import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import { SUBSCRIPTION_LIMITS } from "../../../core/base/limits.ts";

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

/** Not globally reachable, by the registries of special addresses (RFC 6890 and later). */
const SPECIAL_IPV4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8], // This network.
  ["10.0.0.0", 8], // Private.
  ["100.64.0.0", 10], // Carriers' own; some clouds' metadata.
  ["127.0.0.0", 8], // Loopback.
  ["169.254.0.0", 16], // Link-local; most clouds' metadata.
  ["172.16.0.0", 12], // Private.
  ["192.0.0.0", 24], // Protocol assignments.
  ["192.0.2.0", 24], // Documentation.
  ["192.88.99.0", 24], // 6to4 relays.
  ["192.168.0.0", 16], // Private.
  ["198.18.0.0", 15], // Benchmarks.
  ["198.51.100.0", 24], // Documentation.
  ["203.0.113.0", 24], // Documentation.
  ["224.0.0.0", 4], // Multicast.
  ["240.0.0.0", 4], // Reserved, broadcast.
];

/** Within 2000::/3, the only public part of IPv6. */
const SPECIAL_IPV6: readonly (readonly [string, number])[] = [
  ["2001::", 23], // Protocol assignments: Teredo, ORCHID, benchmarks.
  ["2001:db8::", 32], // Documentation.
  ["2002::", 16], // 6to4.
  ["3fff::", 20], // Documentation.
];

const special = new BlockList();
for (const [net, prefix] of SPECIAL_IPV4) special.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of SPECIAL_IPV6) special.addSubnet(net, prefix, "ipv6");

const globalIpv6 = new BlockList();
globalIpv6.addSubnet("2000::", 3, "ipv6");

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 24, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether an address, as the resolver prints it, is public. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, "ipv4");
  if (!isIPv6(address) || address.includes("%")) return false;
  return globalIpv6.check(address, "ipv6") && !special.check(address, "ipv6");
}

/** Whether an address is a loopback address that development may use. */
export function isLocalAddress(address: string): boolean {
  if (isIPv4(address)) return loopback.check(address, "ipv4");
  return isIPv6(address) && !address.includes("%") && loopback.check(address, "ipv6");
}
