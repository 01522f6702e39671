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
/** The maximum that an engine accepts by default. */
const MAX_UNPACKED_BYTES = 64 << 20

/**
 * Reads the files of a folder or of a gzipped tar archive. Throws an `Error` that names the
 * file and the reason.
 */
export async function readPluginFiles(path: string): Promise<PluginFiles & { isFolder: boolean }> {
  const stats = await stat(path).catch(() => undefined)
  const isFolder = stats?.isDirectory() ?? false
  const content = isFolder ? await readPluginFolder(path) : await readPackedPlugin(path)
  return { ...content, isFolder }
}

/**
 * Reads the files of a folder that belong to the package: all but dot files,
 * `node_modules` and `__pycache__`.
 */
export async function readPluginFolder(folder: string): Promise<PluginFiles> {
  const manifestFile = join(folder, MANIFEST_FILE)
  const manifest = parseManifest(manifestFile, await readLocalFile(manifestFile))
  return { manifest, files: await readFolder(folder) }
}

/** Reads all files of a folder but dot files and those in `node_modules` and `__pycache__`. */
export async function readFolder(folder: string): Promise<PluginFiles['files']> {
  const files = new Map<string, Buffer>()
  for (const path of await listFiles(folder)) {
    files.set(path, await readLocalFile(join(folder, path)))
  }
  return files
}

/** Reads an archive whose files are at the top level or in a single folder, as the engine does. */
async function readPackedPlugin(path: string): Promise<PluginFiles> {
  const archive = await readLocalFile(path)
  const entries = await unpack(archive).catch(cause => {
    throw new Error(`${path} is not a complete package of a plugin: ${(cause as Error).message}`, {
      cause,
    })
  })
  const files = entries.has(MANIFEST_FILE) ? entries : stripTopFolder(entries)
  const content = files.get(MANIFEST_FILE)
  if (!content) throw new Error(`${path} contains no ${MANIFEST_FILE}`)
  return { manifest: parseManifest(`${path}: ${MANIFEST_FILE}`, content), files }
}

async function unpack(archive: Buffer): Promise<Map<string, Buffer>> {
  const tar = await promisify(gunzip)(archive, { maxOutputLength: MAX_UNPACKED_BYTES })
  const files = new Map<string, Buffer>()
  for await (const entry of Readable.from([tar]).pipe(extract())) {
    const { name, type } = entry.header
    if (type !== 'file' && type !== 'directory') {
      throw new Error(`${JSON.stringify(name)} is a ${type}`)
    }
    const path = name.replace(/^\.\//, '')
    if (files.has(path)) throw new Error(`${JSON.stringify(name)} occurs twice`)
    if (type === 'file') files.set(path, await buffer(entry))
    else entry.resume()
  }
  return files
}

/** Returns the files relative to their single top-level folder. */
function stripTopFolder(files: ReadonlyMap<string, Buffer>): ReadonlyMap<string, Buffer> {
  const folders = new Set([...files.keys()].map(path => path.split('/')[0]!))
  const [folder, ...others] = folders
  if (folder === undefined || others.length > 0) return files
  return new Map([...files].map(([path, content]) => [path.slice(folder.length + 1), content]))
}

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
 * order.
 */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))
    .filter(path => !path.split('/').some(isOmitted))
    .sort()
}

const isOmitted = (name: string) =>
  name.startsWith('.') || name === 'node_modules' || name === '__pycache__'
