import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Reads a secret in the data folder, which the appliance has generated at its first start. Returns
 * undefined if the file does not exist. Throws an `Error` with the remedy if it cannot be read.
 */
export function readSecret(data: string, name: string): string | undefined {
  const file = join(data, 'secrets', name)
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new Error(
      `${file} cannot be read (${code}): run the command as root, or as the user of the appliance`,
      { cause },
    )
  }
}
