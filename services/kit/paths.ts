import { createHash } from 'node:crypto'
import { readlink, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EyrieError } from '@eyrie/contract'
import { assertPercentEncoding } from '@eyrie/contract/address'

/**
 * Resolves a `file://` URL or an absolute path to its real path, without symbolic links.
 * Throws `EyrieError` (`syntax`) if the real path is outside of all `roots`. The file
 * does not have to exist.
 */
export async function resolveAllowedPath(url: string, roots: readonly string[]): Promise<string> {
  const path = await followLinks(toLocalPath(url))
  for (const root of roots) {
    const folder = await followLinks(root)
    const prefix = folder.endsWith(sep) ? folder : folder + sep
    if (path.startsWith(prefix)) return path
  }

  throw new EyrieError(
    'syntax',
    `${url} lies outside the allowed folders: use a path below ${roots.join(' or ') || 'a configured folder'}`,
  )
}

/**
 * Converts a `file://` URL to a path and returns an absolute path unchanged. Throws `EyrieError`
 * (`syntax`) for other URLs.
 */
export function toLocalPath(url: string): string {
  if (isAbsolute(url)) return url
  assertPercentEncoding(url)
  try {
    return fileURLToPath(url)
  } catch (cause) {
    throw new EyrieError(
      'syntax',
      `${url} names no local file: use file:///folder/name or /folder/name`,
      {
        cause,
      },
    )
  }
}

/**
 * Like `realpath`, but accepts paths that do not exist yet or lie in a folder that this
 * process cannot enter. The process that opens such a path can enter the folder, and
 * resolves the path again.
 */
async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const parent = dirname(path)
    if ((code !== 'ENOENT' && code !== 'EACCES') || parent === path) throw error

    // The path may be a link to a file that does not exist yet.
    const linkTarget = await readlink(path).catch(() => undefined)
    if (linkTarget !== undefined) return followLinks(resolve(parent, linkTarget))
    return join(await followLinks(parent), basename(path))
  }
}

/**
 * Returns the ZeroMQ endpoint of a named connection between pipelines of one engine: a Unix socket
 * in `ringFolder`, which the engine and the media service share. The name is hashed because Linux
 * limits the path of a socket to 107 bytes.
 */
export function getInternalEndpoint(ringFolder: string, name: string): string {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16)
  return `ipc://${join(ringFolder, `${digest}.sock`)}`
}
