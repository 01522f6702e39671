import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { parseAs } from '@eyrie/contract/parse'
import { extract } from 'tar-stream'
import { explainFile } from './file-errors.ts'
import { hashing } from './hashing.ts'
import { MANIFEST, type Manifest, manifest } from './manifest.ts'

/**
 * Unpacks a backup into an empty folder, and returns its manifest once every entry is known to be as it was written.
 * Throws an Error that says what is wrong with the archive; what has been unpacked until then is left to the caller.
 */
export async function unpack(path: string, into: string): Promise<Manifest> {
  const found: Record<string, string> = {}
  const entries = extract()
  const read = pipeline(createReadStream(path), createGunzip(), entries as unknown as NodeJS.WritableStream)
  // It shows where entries are read.
  read.catch(error => entries.destroy(error))
  try {
    for await (const entry of entries) {
      const { name, type, mode } = entry.header
      if (type !== 'file' || !/^(files|database)\/(?!.*(^|\/)\.\.?(\/|$))|^manifest\.json$/.test(name))
        throw new Error(`it holds ${JSON.stringify(name)}, which no backup has`)
      const { passing, sha256 } = hashing()
      await mkdir(dirname(join(into, name)), { recursive: true, mode: 0o700 })
      await pipeline(
        entry,
        passing,
        createWriteStream(join(into, name), { mode: mode ?? 0o600, flags: 'wx' }),
      )
      found[name] = sha256()
    }
    await read
    return await verified(into, found)
  } catch (cause) {
    const { code = '', syscall } = cause as NodeJS.ErrnoException
    // Only reading is the archive's affair.
    const file = explainFile(cause, syscall === 'write' || code === 'ENOSPC' ? into : path)
    const reason = damage[code] ?? (cause as Error).message
    throw new Error(file ?? `${path} is no backup that can be restored: ${reason}`, { cause })
  }
}

/** What zlib finds. */
const damage: Record<string, string> = {
  Z_DATA_ERROR: 'it is no gzip archive, or damaged',
  Z_BUF_ERROR: 'it is cut short, or empty',
}

async function verified(
  folder: string,
  { [MANIFEST]: last, ...found }: Record<string, string>,
): Promise<Manifest> {
  if (!last) throw new Error('it has no manifest, so it was not written to its end')
  const described = parseAs(manifest, JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')))
  for (const name of new Set([...Object.keys(found), ...Object.keys(described.entries)])) {
    if (found[name] !== described.entries[name]) throw new Error(`${name} is not as it was written`)
  }
  return described
}
