import { randomBytes } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAs } from '@eyrie/contract/parse'
import { writeDurably } from '@eyrie/kit/durable-file'
import type { Secrets } from '@eyrie/kit/secrets'
import { type ConfigurationState, configurationState, emptyState } from './configuration-state.ts'
import { sealAddresses, unsealAddresses } from './sealed-addresses.ts'

/**
 * The configuration file. The engine reads it on start and replaces it atomically with every edit.
 * Addresses with passwords or tokens are encrypted.
 */
export interface ConfigurationStore {
  /**
   * Reads the configuration. It is empty if the file does not exist. A file of an earlier
   * release, whose addresses are not encrypted, is replaced. Throws an Error with the path if
   * the file is damaged.
   */
  read(): Promise<ConfigurationState>
  write(state: ConfigurationState): Promise<void>
}

const TAG_KEY_BYTES = 16
/** Version of files whose addresses are not encrypted. */
const PLAIN_VERSION = 1

interface StoredConfiguration {
  state: ConfigurationState
  /** Whether the addresses in the file are not encrypted. */
  isPlain: boolean
}

export function createConfigurationStore(folder: string, secrets: Secrets): ConfigurationStore {
  const file = join(folder, 'configuration.json')

  const write = (state: ConfigurationState) =>
    writeDurably(file, `${JSON.stringify(sealAddresses(state, secrets), null, 2)}\n`)

  const parse = (text: string): StoredConfiguration => {
    const content = JSON.parse(text)
    const isPlain = content?.version === PLAIN_VERSION
    // Apart from the encryption, the two versions are equal.
    const state = isPlain ? { ...content, version: 2 } : unsealAddresses(content, secrets)
    return { state: parseAs(configurationState, state), isPlain }
  }

  const readFileOrEmpty = async (): Promise<StoredConfiguration> => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    try {
      return parse(await readFile(file, 'utf8'))
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException
      if (code === 'ENOENT') {
        return { state: emptyState(randomBytes(TAG_KEY_BYTES).toString('hex')), isPlain: false }
      }
      throw new Error(
        `the configuration file ${file} is damaged (${message}): restore it from a backup, ` +
          'or move it elsewhere to start with an empty configuration',
        { cause },
      )
    }
  }

  return {
    read: async () => {
      const { state, isPlain } = await readFileOrEmpty()
      if (isPlain) await write(state)
      return state
    },
    write,
  }
}
