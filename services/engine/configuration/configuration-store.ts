import { randomBytes } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAs } from '@eyrie/contract/parse'
import { writeDurably } from '@eyrie/kit/durable-file'
import { type ConfigurationState, configurationState, emptyState } from './configuration-state.ts'

/** The configuration file. The engine reads it on start and replaces it atomically with every edit. */
export interface ConfigurationStore {
  /** Returns an empty configuration if the file does not exist. Throws an Error with the path if it is damaged. */
  read(): Promise<ConfigurationState>
  write(state: ConfigurationState): Promise<void>
}

const TAG_KEY_BYTES = 16

export function createConfigurationStore(folder: string): ConfigurationStore {
  const file = join(folder, 'configuration.json')
  return {
    read: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      try {
        return parseAs(configurationState, JSON.parse(await readFile(file, 'utf8')))
      } catch (cause) {
        const { code, message } = cause as NodeJS.ErrnoException
        if (code === 'ENOENT') return emptyState(randomBytes(TAG_KEY_BYTES).toString('hex'))
        throw new Error(
          `the configuration file ${file} is damaged (${message}): restore it from a backup, or move it elsewhere to start with an empty configuration`,
          { cause },
        )
      }
    },
    write: state => writeDurably(file, `${JSON.stringify(state, null, 2)}\n`),
  }
}
