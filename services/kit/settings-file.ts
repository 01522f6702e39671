import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAs } from '@eyrie/contract/parse'
import { type Settings, settings } from '@eyrie/contract/settings'

/** Reads `eyrie.json` in the data folder and applies all defaults. Throws an `Error` with the file and the invalid field. */
export function readSettings(data: string): Settings {
  const file = join(data, 'eyrie.json')
  try {
    return parseAs(settings, existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {})
  } catch (cause) {
    throw new Error(`${file} is not valid: ${(cause as Error).message}. Correct or delete the file`, {
      cause,
    })
  }
}
