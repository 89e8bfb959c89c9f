/** The two calls we use of a package that ships no types. */
declare module "fs-native-extensions" {
  interface LockOptions {
    readonly shared?: boolean;
  }
  const native: {
    tryLock(fd: number, offset: number, length: number, options?: LockOptions): boolean;
    unlock(fd: number, offset?: number, length?: number): void;
  };
  export default native;
}
