import { createHash } from 'node:crypto'
import { readlink, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EyrieError } from '@eyrie/contract'
import { assertPercentEncoding } from '@eyrie/contract/address'

/**
 * Resolves a `file://` URL or absolute path to its real path, which has to be inside one of the roots after all symbolic
 * links are followed. The file may not exist yet. Throws `EyrieError` (`syntax`) with the allowed folders.
 */
export async function allowedPath(url: string, roots: readonly string[]): Promise<string> {
  const path = await followLinks(localPath(url))
  for (const root of roots) {
    const folder = await followLinks(root)
    if (path.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return path
  }
  throw new EyrieError(
    'syntax',
    `${url} lies outside the allowed folders: use a path below ${roots.join(' or ') || 'a configured folder'}`,
  )
}

/** Converts a `file://` URL to a path; an absolute path is returned unchanged. Throws `EyrieError` (`syntax`). */
export function localPath(url: string): string {
  if (isAbsolute(url)) return url
  assertPercentEncoding(url)
  try {
    return fileURLToPath(url)
  } catch (cause) {
    throw new EyrieError('syntax', `${url} names no local file: use file:///folder/name or /folder/name`, {
      cause,
    })
  }
}

/** Like `realpath`, but accepts paths that do not exist yet. */
async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error
    const target = await readlink(path).catch(() => undefined)
    if (target !== undefined) return followLinks(resolve(dirname(path), target))
    return join(await followLinks(dirname(path)), basename(path))
  }
}

/**
 * The ZeroMQ endpoint of a named connection between pipelines of one engine: a socket in the folder that engine and media
 * share. The name is hashed because the path of a socket must be short.
 */
export function getInternalEndpoint(ringFolder: string, name: string): string {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16)
  return `ipc://${join(ringFolder, `${digest}.sock`)}`
}
