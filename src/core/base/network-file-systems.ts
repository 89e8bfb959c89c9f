/** Network file systems: those on which a lock need not exclude every writer. */

/**
 * `statfs` types of file systems that other machines, or a program, may serve: their locks need not
 * reach everyone who writes (Linux's magic.h, and the sources of those that are not in it).
 */
export const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xfe534d42, "SMB2"],
  [0xff534d42, "CIFS"],
  [0x01021997, "9p"],
  // virtiofs has the type of FUSE.
  [0x65735546, "FUSE or virtiofs"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x19830326, "BeeGFS"],
  [0x20030528, "OrangeFS"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x01161970, "GFS2"],
  [0x7461636f, "OCFS2"],
  [0x786f4256, "a folder shared by VirtualBox"],
  [0xbacbacbc, "a folder shared by VMware"],
]);
