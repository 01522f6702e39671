import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { parseAs } from '@eyrie/contract/parse'
import { type Manifest, manifest } from '@eyrie/contract/plugin'
import { pack } from 'tar-stream'
import { readLocalFile } from '../command/local-files.ts'

/** A plugin version, packed for upload to the engine. */
export interface PluginPackage {
  manifest: Manifest
  /** A gzipped tar archive. */
  archive: Uint8Array<ArrayBuffer>
}

/**
 * Packs the folder of a plugin as npm does: every file is under `package/`; dot files and `node_modules` are omitted. Equal
 * folders result in equal archives. Throws an `Error` that names the invalid field of `plugin.json`.
 */
export async function packPlugin(folder: string): Promise<PluginPackage> {
  const manifest = await readManifest(folder)

  const tar = pack()
  for (const path of await listFiles(folder)) {
    // A fixed mode and time, so that the archive depends on the content only.
    const header = { name: join('package', path), mode: 0o644, mtime: new Date(0) }
    tar.entry(header, await readLocalFile(join(folder, path)))
  }
  tar.finalize()

  const archive = await promisify(gzip)(await buffer(tar))
  return { manifest, archive: new Uint8Array(archive) }
}

async function readManifest(folder: string): Promise<Manifest> {
  const file = join(folder, 'plugin.json')
  const text = await readLocalFile(file)
  try {
    return parseAs(manifest, JSON.parse(text.toString()))
  } catch (cause) {
    throw new Error(`${file}: ${(cause as Error).message}`, { cause })
  }
}

/** Returns the paths of the files to pack, relative to the folder, in a fixed order. */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))
    .filter(path => !path.split('/').some(isOmitted))
    .sort()
}

const isOmitted = (name: string) => name.startsWith('.') || name === 'node_modules'
