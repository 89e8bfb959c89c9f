/**
 * The part of the peers' types that is used here, so that type checking does not need them
 * installed.
 */

declare module "sonic-boom" {
  interface Options {
    readonly dest: string;
    readonly sync: boolean;
    readonly contentMode: "utf8" | "buffer";
  }

  export default class SonicBoom {
    constructor(options: Options);
    write(content: string | Uint8Array): boolean;
    end(): void;
    once(event: "close", listener: () => void): this;
  }
}

declare module "hypercore" {
  export default class Hypercore {
    constructor(directory: string);
    ready(): Promise<void>;
    append(block: Uint8Array): Promise<unknown>;
    close(): Promise<void>;
  }
}
