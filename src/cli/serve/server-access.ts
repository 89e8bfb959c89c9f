/** Server access: the options of `serve` for access and limits. */

import { resolve } from "node:path";
import type { ServeOptions } from "../../server/settings/serve-options.ts";
import {
  type CommandOption,
  type Run,
  textOption,
  UsageError,
  wholeNumber,
} from "../command/command.ts";

const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000 };
const CONNECTIONS_MAX = 1_000_000;

export const ACCESS_OPTIONS: readonly CommandOption[] = [
  {
    flags: "--allow-origin <origins>",
    summary:
      "origins of web pages that may use the server besides this machine's, comma-separated; * for all",
  },
  {
    flags: "--allow-host <names>",
    summary: "host names that a proxy uses for the server, comma-separated",
  },
  { flags: "--public-url <url>", summary: "public URL of the server, for webhooks" },
  { flags: "--tls-key <file>", summary: "TLS key, readable only by you (PEM)" },
  { flags: "--tls-cert <file>", summary: "TLS certificate with its chain (PEM)" },
  {
    flags: "--max-connections <number>",
    summary: "maximum number of open connections",
    default: "16384",
  },
  {
    flags: "--max-readers <number>",
    summary: "maximum number of readers that wait for new data",
    default: "10000",
  },
  { flags: "--request-log <file>", summary: "log each request as a JSON line; - for stderr" },
];

/** The settings from the options; a usage error if they are invalid. */
export function accessSettings(options: Run["options"]) {
  const { maxConnections, maxReaders } = options;
  const publicUrl = textOption("--public-url", options.publicUrl);
  const keepReceivedMs = ageOf(textOption("--keep-received", options.keepReceived));
  return {
    allowOrigins: originList(textOption("--allow-origin", options.allowOrigin)),
    allowHosts: hostList(textOption("--allow-host", options.allowHost)),
    connectionsMax: wholeNumber("--max-connections", maxConnections, 1, CONNECTIONS_MAX),
    liveReadersMax: wholeNumber("--max-readers", maxReaders, 1, CONNECTIONS_MAX),
    ...(publicUrl === undefined ? {} : { publicUrl: checkedUrl(publicUrl) }),
    ...(keepReceivedMs === undefined ? {} : { keepReceivedMs }),
    ...tlsOf(options),
  } satisfies Partial<ServeOptions>;
}

function tlsOf(options: Run["options"]): Pick<ServeOptions, "tls"> {
  const key = textOption("--tls-key", options.tlsKey);
  const cert = textOption("--tls-cert", options.tlsCert);
  if (key === undefined && cert === undefined) return {};
  if (key === undefined || cert === undefined) {
    throw new UsageError("give both --tls-key and --tls-cert");
  }
  return { tls: { keyPath: resolve(key), certPath: resolve(cert) } };
}

function originList(text: string | undefined): string[] {
  return listed(text, "--allow-origin", "origins such as https://app.example.com", (each) => {
    return each === "*" || /^https?:\/\/[^/\s]+$/.test(each);
  });
}

function hostList(text: string | undefined): string[] {
  return listed(text, "--allow-host", "names such as streams.example.com", (each) => {
    return /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(each);
  });
}

function listed(
  text: string | undefined,
  flag: string,
  what: string,
  isRight: (each: string) => boolean,
): string[] {
  if (text === undefined) return [];
  const all = text.split(",").map((each) => each.trim());
  for (const each of all) {
    if (!isRight(each)) throw new UsageError(`${flag} takes ${what}, not ${each}`);
  }
  return all;
}

function checkedUrl(text: string): string {
  if (/^https?:\/\/[^/\s?#]+(?:\/[^\s?#]*)?$/.test(text)) return text.replace(/\/+$/, "");
  throw new UsageError(`--public-url takes a URL such as https://streams.example.com, not ${text}`);
}

/** At least a minute. */
function ageOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, count = "", unit = ""] = /^([1-9]\d{0,5})([dhm])$/.exec(text) ?? [];
  if (count !== "") return Number(count) * (UNIT_MS[unit] ?? 0);
  throw new UsageError(`--keep-received takes an age such as 180d, 12h or 30m, not ${text}`);
}
