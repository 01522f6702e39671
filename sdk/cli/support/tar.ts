const BLOCK = 512

export interface ArchivedFile {
  /** At most 100 bytes. */
  name: string
  content: Buffer
}

/** A tar archive (POSIX.1-1988 ustar) of plain files that their owner alone can read. */
export function tar(files: readonly ArchivedFile[], modified: Date): Buffer {
  const blocks = files.flatMap(({ name, content }) => [
    header(name, content.length, modified),
    content,
    Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK),
  ])
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)])
}

function header(name: string, size: number, modified: Date): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long a name for an archive`)
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, digits: number) =>
    block.write(value.toString(8).padStart(digits, '0'), at, 'latin1')
  block.write(name, 0)
  octal(0o600, 100, 7)
  octal(0, 108, 7)
  octal(0, 116, 7)
  octal(size, 124, 11)
  octal(Math.floor(modified.getTime() / 1000), 136, 11)
  block.write('0', 156, 'latin1')
  block.write('ustar\x0000', 257, 'latin1')
  // The sum is taken with spaces in its own place.
  block.fill(' ', 148, 156)
  octal(
    block.reduce((sum, byte) => sum + byte),
    148,
    6,
  )
  block[154] = 0
  return block
}
