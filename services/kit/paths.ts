import { createHash } from 'node:crypto'
import { readlink, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EyrieError } from '@eyrie/contract'
import { assertPercentEncoding } from '@eyrie/contract/address'

/**
 * The real path that a `file://` URL or absolute path names, if it lies under one of the roots once every symbolic
 * link has been followed. The file need not exist yet. Throws EyrieError `syntax` saying which folders are allowed.
 */
export async function allowedPath(url: string, roots: readonly string[]): Promise<string> {
  const path = await followLinks(localPath(url))
  for (const root of roots) {
    const folder = await followLinks(root)
    if (path.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return path
  }
  throw new EyrieError(
    'syntax',
    `${url} lies outside the folders that may be used: put it under ${roots.join(' or ') || 'a configured folder'}`,
  )
}

/** Throws EyrieError `syntax` where a `file://` URL names no path of this machine. A path stays as it is. */
export function localPath(url: string): string {
  if (isAbsolute(url)) return url
  assertPercentEncoding(url)
  try {
    return fileURLToPath(url)
  } catch (cause) {
    throw new EyrieError('syntax', `${url} names no local file: write file:///folder/name or /folder/name`, {
      cause,
    })
  }
}

/** As realpath, but what does not exist yet stays as it is written. */
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
 * The ZeroMQ endpoint by which pipelines of one engine reach one another under a name: a socket in the folder that
 * engine and media share, whose path has to be short.
 */
export function getInternalEndpoint(ringFolder: string, name: string): string {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16)
  return `ipc://${join(ringFolder, `${digest}.sock`)}`
}
