/** Building ISO base media file format boxes (ISO/IEC 14496-12). All numbers are big endian. */

export type Bytes = Uint8Array

export function box(type: string, ...parts: Bytes[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 8)
  return Buffer.concat([u32(length), Buffer.from(type, 'latin1'), ...parts], length)
}

/** A box that begins with a version and 24 bits of flags. */
export function fullBox(type: string, version: number, flags: number, ...parts: Bytes[]): Buffer {
  return box(type, u32(version * 2 ** 24 + flags), ...parts)
}

export function u16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2)
  values.forEach((value, i) => {
    bytes.writeUInt16BE(value, i * 2)
  })
  return bytes
}

export function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, i) => {
    bytes.writeUInt32BE(value, i * 4)
  })
  return bytes
}

export function i32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

export function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}
