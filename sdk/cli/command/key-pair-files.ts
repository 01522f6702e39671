import { unlink, writeFile } from 'node:fs/promises'
import { createWriteError } from './local-files.ts'

/** The files of a key pair that a command generates. */

/** Only the owner may read a private key. */
const PRIVATE_KEY_MODE = 0o600
const PUBLIC_KEY_MODE = 0o644

/**
 * Writes a key pair into `<name>.key` and `<name>.pub`, and returns both paths. Rejects if one of
 * the files exists: a key is never overwritten, because nothing else could be signed with it again.
 */
export async function writeKeyPair(
  name: string,
  { privateKey, publicKey }: { privateKey: string; publicKey: string },
): Promise<{ privateFile: string; publicFile: string }> {
  const privateFile = `${name}.key`
  const publicFile = `${name}.pub`
  await createFile(privateFile, privateKey, PRIVATE_KEY_MODE)
  await createFile(publicFile, publicKey, PUBLIC_KEY_MODE).catch(async error => {
    await unlink(privateFile)
    throw error
  })
  return { privateFile, publicFile }
}

async function createFile(path: string, text: string, mode: number): Promise<void> {
  const failIfExists = 'wx'
  await writeFile(path, text, { mode, flag: failIfExists }).catch(cause => {
    if (cause.code !== 'EEXIST') throw createWriteError(path, cause)
    throw new Error(`${path} exists already: use another name`, { cause })
  })
}
