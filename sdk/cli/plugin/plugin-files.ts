import { readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { assertSchemasGenerated } from '@eyrie/contract/generated-schemas'
import { parseAs } from '@eyrie/contract/parse'
import { type Manifest, manifest } from '@eyrie/contract/plugin'
import { extract } from 'tar-stream'
import { readLocalFile } from '../command/local-files.ts'

/** The files of a plugin package, in a folder or in an archive. */
export interface PluginFiles {
  manifest: Manifest
  /**
   * The content of each file, by its path relative to the folder of the plugin, in a fixed order.
   */
  files: ReadonlyMap<string, Buffer>
}

const MANIFEST_FILE = 'plugin.json'
/** Maximum size of all files of an archive. Engines accept the same size by default. */
const MAX_UNPACKED_BYTES = 64 << 20

/**
 * Reads a plugin package: a folder or a gzipped tar archive. Throws an `Error` that names the file
 * and the reason.
 */
export async function readPluginFiles(path: string): Promise<PluginFiles & { isFolder: boolean }> {
  const stats = await stat(path).catch(() => undefined)
  const isFolder = stats?.isDirectory() ?? false
  const plugin = isFolder ? await readPluginFolder(path) : await readPluginArchive(path)
  return { ...plugin, isFolder }
}

/** Reads a plugin package in a folder. Its files are those of `readFolder`. */
export async function readPluginFolder(folder: string): Promise<PluginFiles> {
  const manifestFile = join(folder, MANIFEST_FILE)
  const manifest = parseManifest(manifestFile, await readLocalFile(manifestFile))
  return { manifest, files: await readFolder(folder) }
}

/**
 * Reads the files of a folder, except dot files, `node_modules`, `__pycache__`, and the packages
 * that `eyrie plugin pack` has written into it.
 */
export async function readFolder(folder: string): Promise<PluginFiles['files']> {
  const files = new Map<string, Buffer>()
  for (const path of await listFiles(folder)) {
    files.set(path, await readLocalFile(join(folder, path)))
  }
  return files
}

/**
 * Reads a plugin package in an archive. As in the engine, its files can be at the top level or in a
 * single folder, such as the folder `package` in archives of npm.
 */
async function readPluginArchive(path: string): Promise<PluginFiles> {
  const archive = await readLocalFile(path)
  const unpacked = await unpack(archive).catch((cause: Error) => {
    throw new Error(`${path} is not a complete package of a plugin: ${cause.message}`, { cause })
  })
  const files = unpacked.has(MANIFEST_FILE) ? unpacked : stripTopFolder(unpacked)
  const manifestContent = files.get(MANIFEST_FILE)
  if (!manifestContent) throw new Error(`${path} contains no ${MANIFEST_FILE}`)
  return { manifest: parseManifest(`${path}: ${MANIFEST_FILE}`, manifestContent), files }
}

/**
 * Returns the files of a gzipped tar archive, by path. Rejects if it contains links, devices, or
 * paths that leave the package.
 */
async function unpack(archive: Buffer): Promise<Map<string, Buffer>> {
  const tar = await promisify(gunzip)(archive, { maxOutputLength: MAX_UNPACKED_BYTES })
  const files = new Map<string, Buffer>()
  for await (const entry of Readable.from([tar]).pipe(extract())) {
    const { name, type } = entry.header
    if (type !== 'file' && type !== 'directory') {
      throw new Error(`${JSON.stringify(name)} is a ${type}`)
    }
    const path = normalizeName(name)
    if (files.has(path)) throw new Error(`${JSON.stringify(name)} occurs twice`)
    if (type === 'file') files.set(path, await buffer(entry))
    // The next entry follows only after this one has been read.
    else entry.resume()
  }
  return files
}

/**
 * Converts the name of an entry to a relative path. Throws an `Error` if the path is absolute or
 * leaves the package, because a command that unpacks it would write to other folders.
 */
function normalizeName(name: string): string {
  const withoutTrailingSlash = name.replace(/\/$/, '')
  const segments = withoutTrailingSlash.split('/').filter(segment => segment !== '.')
  if (segments.every(segment => segment !== '' && segment !== '..')) return segments.join('/')
  throw new Error(`${JSON.stringify(name)} is not a valid path inside the package`)
}

/**
 * Returns the files relative to their top-level folder. If they have several, returns them
 * unchanged.
 */
function stripTopFolder(files: ReadonlyMap<string, Buffer>): ReadonlyMap<string, Buffer> {
  const folders = new Set([...files.keys()].map(path => path.split('/')[0]!))
  const [folder, ...others] = folders
  if (folder === undefined || others.length > 0) return files
  return new Map([...files].map(([path, content]) => [path.slice(folder.length + 1), content]))
}

/** Parses a manifest. Throws an `Error` that begins with the name `file`. */
function parseManifest(file: string, content: Buffer): Manifest {
  try {
    const parsed = JSON.parse(content.toString())
    const valid = parseAs(manifest, parsed)
    assertSchemasGenerated(parsed)
    return valid
  } catch (cause) {
    throw new Error(`${file}: ${(cause as Error).message}`, { cause })
  }
}

/**
 * Returns the paths of the files that belong to the package, relative to the folder, in a fixed
 * order. Rejects if one of them is a link or a device: engines accept only files.
 */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files: string[] = []
  for (const entry of entries) {
    const path = relative(folder, join(entry.parentPath, entry.name))
    const isIncluded = !path.split('/').some(isOmitted) && !isPackage(path)
    if (!isIncluded || entry.isDirectory()) continue
    if (!entry.isFile()) {
      const type = entry.isSymbolicLink() ? 'a symbolic link' : 'not a file'
      throw new Error(
        `${join(folder, path)} is ${type}, which a package cannot contain: replace it by a file, or delete it`,
      )
    }
    files.push(path)
  }
  return files.sort()
}

const isOmitted = (name: string) =>
  name.startsWith('.') || name === 'node_modules' || name === '__pycache__'

/** Whether a file is in the place of a package, as `eyrie plugin pack .` names it. */
const isPackage = (path: string) => !path.includes('/') && path.endsWith('.tgz')
