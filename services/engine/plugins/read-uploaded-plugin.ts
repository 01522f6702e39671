import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assertSchemasGenerated } from '@eyrie/contract/generated-schemas'
import { syntaxError } from '@eyrie/contract/parse'
import { type KnownPlugin, readPlugin } from '../plugin-host/known-plugin.ts'
import { assertOwnModels } from './own-models.ts'

/**
 * Reads an unpacked package without running its code. Throws `EyrieError` (`syntax`) if it is
 * invalid.
 */
export async function readUploadedPlugin(folder: string): Promise<KnownPlugin> {
  const plugin = readValidPlugin(folder)
  await assertOwnModels(plugin)
  return plugin
}

function readValidPlugin(folder: string): KnownPlugin {
  try {
    const plugin = readPlugin(folder, 'uploaded')
    assertSchemasGenerated(JSON.parse(readFileSync(join(folder, 'plugin.json'), 'utf8')))
    return plugin
  } catch (cause) {
    throw syntaxError('', (cause as Error).message, { cause })
  }
}
