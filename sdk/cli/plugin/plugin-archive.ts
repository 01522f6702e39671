import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { parseAs } from '@eyrie/contract/parse'
import { type Manifest, manifest } from '@eyrie/contract/plugin'
import { pack } from 'tar-stream'
import { readLocalFile } from '../command/local-files.ts'

/** A plugin version as it is uploaded to the engine. */
export interface PluginPackage {
  manifest: Manifest
  /** A gzipped tar archive. */
  archive: Uint8Array<ArrayBuffer>
}

/**
 * Packs the folder of a plugin as npm does: every file under `package/`, except dot files and `node_modules`. The result
 * is reproducible. Throws an `Error` that names the invalid field of `plugin.json`.
 */
export async function packPlugin(folder: string): Promise<PluginPackage> {
  const validManifest = await readManifest(folder)
  const archive = pack()
  for (const path of await listFiles(folder)) {
    const header = { name: join('package', path), mode: 0o644, mtime: new Date(0) }
    archive.entry(header, await readLocalFile(join(folder, path)))
  }
  archive.finalize()
  return { manifest: validManifest, archive: new Uint8Array(await promisify(gzip)(await buffer(archive))) }
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

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))
    .filter(path => path.split('/').every(part => !part.startsWith('.') && part !== 'node_modules'))
    .sort()
}
