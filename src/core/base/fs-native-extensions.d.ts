/** Types of the two calls we use; the package has none. */
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
