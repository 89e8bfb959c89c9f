/** Fingerprint: a short name for a long text, the same each time. Not for what somebody may forge. */

/** 64 bits as two FNV-1a hashes of the characters, in hex: enough to tell apart what nobody chose. */
export function fingerprint(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b) ^ (b >>> 13);
  }
  return hex(a) + hex(b);
}

function hex(bits: number): string {
  return (bits >>> 0).toString(16).padStart(8, "0");
}
