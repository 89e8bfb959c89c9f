/**
 * Addresses: where webhooks may be sent.
 *
 * Only addresses known to be public are allowed. An IPv4 address inside any IPv6 form (mapped,
 * NAT64, 6to4, Teredo) is refused.
 */

import { BlockList, isIPv4, isIPv6 } from "node:net";

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
