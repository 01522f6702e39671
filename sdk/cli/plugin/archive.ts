import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { parseAs } from '@eyrie/contract/parse'
import { type Manifest, manifest } from '@eyrie/contract/plugin'
import { pack } from 'tar-stream'
import { read } from '../read.ts'

/** A plugin as it is uploaded. */
export interface PluginPackage {
  manifest: Manifest
  archive: Uint8Array<ArrayBuffer>
}

/**
 * Packs a plugin's folder as npm does: every file under `package/`, but for what begins with a dot and node_modules.
 * The same files make the same bytes. Throws an Error that names the place in plugin.json that is at fault.
 */
export async function packPlugin(folder: string): Promise<PluginPackage> {
  const described = await manifestIn(folder)
  const archive = pack()
  for (const path of await filesIn(folder))
    archive.entry(
      { name: join('package', path), mode: 0o644, mtime: new Date(0) },
      await read(join(folder, path)),
    )
  archive.finalize()
  return { manifest: described, archive: new Uint8Array(await promisify(gzip)(await buffer(archive))) }
}

async function manifestIn(folder: string): Promise<Manifest> {
  const file = join(folder, 'plugin.json')
  const text = await read(file)
  try {
    return parseAs(manifest, JSON.parse(text.toString()))
  } catch (cause) {
    throw new Error(`${file}: ${(cause as Error).message}`, { cause })
  }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))
    .filter(path => path.split('/').every(part => !part.startsWith('.') && part !== 'node_modules'))
    .sort()
}
