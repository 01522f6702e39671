import { randomBytes } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAs } from '@eyrie/contract/parse'
import { writeDurably } from '@eyrie/kit/durable-file'
import { type ConfigurationState, configurationState, emptyState } from './configuration-state.ts'

/** The configuration file. It is read at start and replaced atomically by every edit. */
export interface ConfigurationStore {
  /** Returns an empty configuration if the file does not exist. Throws an Error with the path if it is damaged. */
  read(): Promise<ConfigurationState>
  write(state: ConfigurationState): Promise<void>
}

export function createConfigurationStore(folder: string): ConfigurationStore {
  const file = join(folder, 'configuration.json')
  return {
    read: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      try {
        return parseAs(configurationState, JSON.parse(await readFile(file, 'utf8')))
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
          return emptyState(randomBytes(16).toString('hex'))
        const { message } = cause as Error
        throw new Error(
          `the configuration in ${file} is damaged (${message}): restore it from a backup, or move it elsewhere to start with an empty one`,
          { cause },
        )
      }
    },
    write: state => writeDurably(file, `${JSON.stringify(state, null, 2)}\n`),
  }
}
