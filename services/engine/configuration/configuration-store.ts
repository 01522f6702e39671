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
   * Reads the configuration, which is empty if the file does not exist. A file of an earlier
   * release, whose addresses are not encrypted, is replaced by an encrypted one. Throws an `Error`
   * with the path if the file cannot be read or is damaged.
   */
  read(): Promise<ConfigurationState>
  write(state: ConfigurationState): Promise<void>
}

/** Version of files whose addresses are not encrypted. */
const UNENCRYPTED_VERSION = 1
/** Version of files whose addresses are encrypted. Everything else is as in version 1. */
const CURRENT_VERSION = 2
/** Length of the random key from which the entity tags of the API are computed. */
const TAG_KEY_BYTES = 16

export function createConfigurationStore(folder: string, secrets: Secrets): ConfigurationStore {
  const file = join(folder, 'configuration.json')

  const write = (state: ConfigurationState) =>
    writeDurably(file, `${JSON.stringify(sealAddresses(state, secrets), null, 2)}\n`)

  return {
    async read() {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const text = await readText(file)
      if (text === undefined) return emptyState(randomBytes(TAG_KEY_BYTES).toString('hex'))

      const { state, isEncrypted } = parseConfiguration(text, { file, secrets })
      if (!isEncrypted) await write(state)
      return state
    },
    write,
  }
}

/** Returns the text of the configuration file; undefined if it does not exist. */
async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new Error(`the configuration file ${file} cannot be read: ${message}`, { cause })
  }
}

interface ParsedConfiguration {
  state: ConfigurationState
  /** Whether the addresses in the file are encrypted. */
  isEncrypted: boolean
}

function parseConfiguration(
  text: string,
  { file, secrets }: { file: string; secrets: Secrets },
): ParsedConfiguration {
  try {
    const content = JSON.parse(text)
    const isEncrypted = content?.version !== UNENCRYPTED_VERSION
    const state = isEncrypted
      ? unsealAddresses(content, secrets)
      : { ...content, version: CURRENT_VERSION }
    return { state: parseAs(configurationState, state), isEncrypted }
  } catch (cause) {
    throw new Error(
      `the configuration file ${file} is damaged (${(cause as Error).message}): ` +
        'restore it from a backup, or move it elsewhere to start with an empty configuration',
      { cause },
    )
  }
}
