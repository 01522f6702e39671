import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { syntaxError } from '@eyrie/contract/parse'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'

/**
 * Throws `EyrieError` (`syntax`) if a package does not contain the models that its manifest
 * describes. Whether they run is known when an element is opened, because only the
 * inference workers load them.
 */
export async function assertOwnModels({
  folder,
  elements,
}: Pick<KnownPlugin, 'folder' | 'elements'>) {
  for (const [index, { manifest }] of elements.entries()) {
    for (const [position, { name, file, sha256 }] of (
      manifest.capabilities?.inference?.own ?? []
    ).entries()) {
      const pointer = `/elements/${index}/capabilities/inference/own/${position}`
      const actual = await hashFile(join(folder, file)).catch(cause => {
        throw syntaxError(`${pointer}/file`, `the package does not contain ${file}`, { cause })
      })
      if (actual !== sha256) {
        throw syntaxError(
          `${pointer}/sha256`,
          `${file} has the SHA-256 ${actual}, not the one of the model ${name}: run eyrie plugin generate, and check where the file comes from`,
        )
      }
    }
  }
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
