import type { PublicKey } from '@eyrie/plugin-signature/publisher-keys'
import { readLocalFile } from '../command/local-files.ts'

/** Reads a key file of a publisher. Throws an `Error` that names the file and the reason. */
export async function readKeyFile<Key extends PublicKey>(
  file: string,
  read: (text: string) => Key,
): Promise<Key> {
  const text = await readLocalFile(file)
  try {
    return read(text.toString())
  } catch (cause) {
    throw new Error(`${file} is not valid: ${(cause as Error).message}`, { cause })
  }
}
