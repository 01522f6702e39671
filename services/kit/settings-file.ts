import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAs } from '@eyrie/contract/parse'
import { type Settings, settings } from '@eyrie/contract/settings'

/**
 * Reads the settings in `eyrie.json` in the data folder and fills in the defaults. The file is
 * optional. Throws an `Error` that names the file and the invalid field.
 */
export function readSettings(dataFolder: string): Settings {
  const file = join(dataFolder, 'eyrie.json')
  try {
    const content = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
    return parseAs(settings, content)
  } catch (cause) {
    throw new Error(
      `${file} is not valid: ${(cause as Error).message}. Correct or delete the file`,
      {
        cause,
      },
    )
  }
}
