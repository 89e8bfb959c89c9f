import { expect, test } from "vitest";
import { SUBSCRIPTION_LIMITS } from "../../../core/base/limits.ts";
import { isLocalAddress, isPublicAddress, judgeWebhookUrl } from "./webhook-url.ts";

const PUBLIC = [
  "https://hooks.example.com/a?b=c",
  "https://hooks.example.com:8443/",
  "https://8.8.8.8/hook",
  "https://1.1.1.1./hook",
  "https://[2606:4700:4700::1111]/hook",
  "https://bücher.example/hook",
];

const NEVER = [
  // The same machine, in every spelling.
  "https://127.0.0.1/",
  "https://127.1/",
  "https://2130706433/",
  "https://0x7f000001/",
  "https://0177.0.0.1/",
  "https://0x7f.1/",
  "https://127.0.0.1./",
  "https://localhost/",
  "https://LOCALHOST/",
  "https://localhost./",
  "https://a.localhost/",
  "https://0.0.0.0/",
  "https://0/",
  "https://[::1]/",
  "https://[::]/",
  "https://①②⑦.⓪.⓪.①/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::ffff:7f00:1]/",
  "https://[::127.0.0.1]/",
  "https://[64:ff9b::7f00:1]/",
  "https://[2002:7f00:1::]/",
  "https://[2001:0:7f00:1::]/",
  "https://[0:0:0:0:0:ffff:7f00:0001]/",
  "https://127.0.0.2/",
  "https://127.255.255.254/",
  // Networks that are not public.
  "https://10.0.0.1/",
  "https://172.16.0.1/",
  "https://172.31.255.255/",
  "https://012.0.0.1/",
  "https://192.168.1.1/",
  "https://0xc0a80101/",
  "https://3232235777/",
  "https://100.64.0.1/",
  "https://[fc00::1]/",
  "https://[fd12:3456::1]/",
  "https://[fe80::1]/",
  "https://[fec0::1]/",
  "https://[::ffff:10.0.0.1]/",
  "https://[64:ff9b::a00:1]/",
  "https://[ff02::1]/",

  "https://198.18.0.1/",
  "https://224.0.0.1/",
  "https://240.0.0.1/",
  "https://255.255.255.255/",
  "https://192.0.2.1/",
  "https://198.51.100.7/",
  "https://203.0.113.9/",
  "https://192.0.0.8/",
  "https://[2001:db8::1]/",
  "https://[3fff::1]/",
  "https://[100::1]/",
  "https://[5f00::1]/",
  // Metadata services.
  "https://169.254.169.254/latest/meta-data/",
  "https://2852039166/",
  "https://0xa9fea9fe/",
  "https://[fd00:ec2::254]/",
  "https://metadata.google.internal/",
  "https://metadata/",
  "https://100.100.100.200/",
  "https://169.254.170.2/",
  "https://[::ffff:169.254.169.254]/",
  // Names of one network.
  "https://printer.local/",
  "https://db.internal/",
  "https://nas.lan/",
  "https://router/",
  "https://a.home.arpa/",
  "https://vault.corp/",
  "https://vault.corp./",
  // Other schemes and forms.
  "ftp://hooks.example.com/",
  "file:///etc/passwd",
  "gopher://hooks.example.com/",
  "javascript:alert(1)",
  "data:text/plain,x",
  "ws://hooks.example.com/",
  "//hooks.example.com",
  "hooks.example.com",
  "",
  "https://",
  "https://user:secret@hooks.example.com/",
  "https://user@hooks.example.com/",
  "http://hooks.example.com/",
  "http://10.0.0.1/hook",
  "http://[::1]:1/",
  "http://127.0.1.1/",
  "http://0.0.0.0/",
  "http://a.localhost/",
  "http://localhost.example.com/",
  "http://127.0.0.1.nip.io/",
  "http://169.254.169.254/",
  "http://user@127.0.0.1/",
  "https://256.256.256.256/",
  "https://1.2.3.4.5/",
];

const LOCAL = [
  "http://localhost:3000/hook",
  "http://LocalHost/",
  "http://127.0.0.1:9/",
  "http://127.0.0.7/",
  "http://2130706433/",
  "http://0x7f.1:80/", // Both are 127.0.0.1.
];

test("a webhook may use public hosts over https", () => {
  for (const url of PUBLIC) expect(judgeWebhookUrl(url, false), url).toMatchObject({ fault: null });
});

test("no spelling of a private network's address or name is accepted, local webhooks or not", () => {
  for (const url of NEVER) {
    for (const allowLocal of [false, true]) {
      expect(judgeWebhookUrl(url, allowLocal).url, `${url} ${allowLocal}`).toBeNull();
    }
  }
});

test("http to localhost and 127.0.0.x is accepted only when local webhooks are allowed", () => {
  for (const url of LOCAL) {
    expect(judgeWebhookUrl(url, true), url).toMatchObject({ isLocal: true, fault: null });
    expect(judgeWebhookUrl(url, false).fault, url).toContain("--allow-local-webhooks");
  }
});

test("a webhook URL has at most the allowed number of characters", () => {
  const start = "https://hooks.example.com/";
  const fill = (length: number) => start.padEnd(length, "a");
  expect(judgeWebhookUrl(fill(SUBSCRIPTION_LIMITS.urlCharsMax), false).fault).toBeNull();
  expect(judgeWebhookUrl(fill(SUBSCRIPTION_LIMITS.urlCharsMax + 1), false).fault).toBe(
    `it is longer than ${SUBSCRIPTION_LIMITS.urlCharsMax} characters`,
  );
});

test("every edge of the special IPv4 ranges is recognised", () => {
  const isPublic = ["1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0"];
  isPublic.push("126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "192.0.1.0");
  isPublic.push("172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.20.0.0");
  isPublic.push("198.17.255.255", "223.255.255.255");
  for (const address of isPublic) expect(isPublicAddress(address), address).toBe(true);
  const isSpecial = ["0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0"];
  isSpecial.push("100.127.255.255", "127.0.0.0", "127.255.255.255", "169.254.0.0", "240.0.0.0");
  isSpecial.push("169.254.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "224.0.0.0");
  isSpecial.push("192.168.255.255", "198.18.0.0", "198.19.255.255", "255.255.255.255");
  for (const address of isSpecial) expect(isPublicAddress(address), address).toBe(false);
});

test("text that is not a plain address is neither public nor local", () => {
  for (const text of ["", "localhost", "2606:4700::1%eth0", "::1%lo", "1.2.3", "1.2.3.4.5"]) {
    expect(isPublicAddress(text), text).toBe(false);
    expect(isLocalAddress(text), text).toBe(false);
  }
  expect(isLocalAddress("::1")).toBe(true);
  expect(isLocalAddress("127.0.0.255")).toBe(true);
  expect(isLocalAddress("127.0.1.0")).toBe(false);
});
