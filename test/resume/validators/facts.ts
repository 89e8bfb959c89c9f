/** Facts: the result of every validator: nothing, or what is wrong and where. */

/** What Python's str.strip() removes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const PYTHON_BLANK = /^[\s\u001c-\u001f\u0085]*$/;

export class Faults {
  readonly list: string[] = [];

  expect(isGood: boolean, fault: string): void {
    if (!isGood) this.list.push(fault);
  }

  /** An object with these keys and no others; those with `?` may be absent. */
  keys(value: unknown, where: string, ...keys: readonly string[]): void {
    if (typeof value !== "object" || value === null) {
      this.list.push(`${where} is not an object`);
      return;
    }
    const known = keys.map((key) => key.replace("?", ""));
    for (const key of keys) {
      if (!key.endsWith("?")) this.expect(Object.hasOwn(value, key), `${where} has no ${key}`);
    }
    for (const key of Object.keys(value)) {
      this.expect(known.includes(key), `${where}.${key} is not permitted`);
    }
  }

  /** A text that providers accept: not blank, in UTF-8, without NUL. */
  text(value: unknown, where: string): void {
    if (typeof value !== "string") {
      this.list.push(`${where} is not a text`);
      return;
    }
    this.expect(!PYTHON_BLANK.test(value), `${where} is blank`);
    this.wire(value, where);
  }

  wire(value: string, where: string): void {
    this.expect(value.isWellFormed() && !value.includes("\0"), `${where} cannot be sent`);
  }

  /** Every string in a value, keys included. */
  value(value: unknown, where: string): void {
    const json = JSON.stringify(value) ?? "";
    const bad = json.replaceAll(/\\\\/g, "").match(/\\u(0000|d[89a-f]..)/);
    this.expect(bad === null, `${where} holds what cannot be sent`);
  }

  match(value: unknown, pattern: RegExp, where: string): void {
    this.expect(typeof value === "string" && pattern.test(value), `${where} is not ${pattern}`);
  }

  image(url: unknown, where: string): void {
    this.match(
      url,
      /^(https:\/\/[!-~]+|data:image\/(jpeg|png|gif|webp);base64,[A-Za-z0-9+/]+=*)$/,
      where,
    );
  }

  json(value: unknown, where: string): void {
    try {
      const parsed: unknown = JSON.parse(String(value));
      const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
      this.expect(isObject, `${where} is not a JSON object`);
      this.value(parsed, where);
    } catch {
      this.list.push(`${where} is not JSON`);
    }
  }
}
