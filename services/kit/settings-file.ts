import { join } from 'node:path'
import { type Settings, settings } from '@eyrie/contract/settings'
import { readJsonFile } from './json-file.ts'

/**
 * Reads the settings in `eyrie.json` in the data folder and fills in the defaults. The file is
 * optional. Throws an `Error` that names the file and the invalid field.
 */
export function readSettings(dataFolder: string): Settings {
  const file = join(dataFolder, 'eyrie.json')
  try {
    return readJsonFile(file, settings) ?? settings.parse({})
  } catch (cause) {
    throw new Error(
      `${file} is not valid: ${(cause as Error).message}. Correct or delete the file`,
      {
        cause,
      },
    )
  }
}
