/** A TLS certificate of a test's own, for one name, made on the spot: X.509 by hand, as DER. */

import { generateKeyPairSync, sign } from "node:crypto";

export interface SelfSigned {
  readonly key: string;
  readonly cert: string;
}

export function selfSigned(name: string): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const algorithm = sequence(objectId("2b6570"));
  const issuer = sequence(tlv(0x31, sequence(objectId("550403"), tlv(0x0c, Buffer.from(name)))));
  const validity = sequence(utcTime("250101000000Z"), utcTime("491231235959Z"));
  const names = sequence(tlv(0x82, Buffer.from(name)));
  const isAuthority = sequence(tlv(0x01, Buffer.from([0xff])));
  const extensions = sequence(
    sequence(objectId("551d11"), tlv(0x04, names)),
    sequence(objectId("551d13"), tlv(0x01, Buffer.from([0xff])), tlv(0x04, isAuthority)),
  );
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))), // Version 3.
    tlv(0x02, Buffer.from([1])),
    algorithm,
    issuer,
    validity,
    issuer,
    publicKey.export({ format: "der", type: "spki" }),
    tlv(0xa3, extensions),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign(null, body, privateKey)]);
  const certificate = sequence(body, algorithm, tlv(0x03, signature)).toString("base64");
  const lines = certificate.match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ format: "pem", type: "pkcs8" }) as string,
    cert: ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n"),
  };
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

function objectId(hex: string): Buffer {
  return tlv(0x06, Buffer.from(hex, "hex"));
}

function utcTime(text: string): Buffer {
  return tlv(0x17, Buffer.from(text));
}

function tlv(tag: number, value: Buffer): Buffer {
  const { length } = value;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}
