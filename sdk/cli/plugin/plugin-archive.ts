import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Manifest } from '@eyrie/contract/plugin'
import { pack } from 'tar-stream'
import { type PluginFiles, readFolder, readPluginFolder } from './plugin-files.ts'

/** A plugin version, packed for upload to the engine. */
export interface PluginPackage {
  manifest: Manifest
  /** A gzipped tar archive. */
  archive: Uint8Array<ArrayBuffer>
}

/**
 * Packs the folder of a plugin. Throws an `Error` that names the invalid field of `plugin.json`.
 */
export async function packPlugin(folder: string): Promise<PluginPackage> {
  const { manifest, files } = await readPluginFolder(folder)
  return { manifest, archive: await packFiles(files) }
}

/** Packs a folder without dot files and `node_modules`. Equal folders result in equal archives. */
export const packFolder = async (folder: string): Promise<Uint8Array<ArrayBuffer>> =>
  packFiles(await readFolder(folder))

/** Packs files as npm does, in the order of the map. */
export async function packFiles(files: PluginFiles['files']): Promise<Uint8Array<ArrayBuffer>> {
  const tar = pack()
  for (const [path, content] of files) {
    // A fixed mode and time, so that the archive depends on the content only.
    tar.entry({ name: join('package', path), mode: 0o644, mtime: new Date(0) }, content)
  }
  tar.finalize()
  return new Uint8Array(await promisify(gzip)(await buffer(tar)))
}
