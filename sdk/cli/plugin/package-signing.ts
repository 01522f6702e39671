import { hashContent, type PackageFiles } from '@eyrie/plugin-signature/package-files'
import {
  type PackageSignature,
  readSignature,
  SIGNATURE_FILE,
  signPackage,
  verifyFiles,
} from '@eyrie/plugin-signature/package-signature'
import type { SigningKey } from '@eyrie/plugin-signature/publisher-keys'
import type { PluginFiles } from './plugin-files.ts'

/**
 * Signs packages of plugins, and verifies them. `path` is the package for the messages of errors.
 */

/** Returns the content of the signature file. Throws an `Error` if the package cannot be signed. */
export function signFiles(path: string, files: PluginFiles['files'], key: SigningKey): string {
  if (files.size === 0) throw new Error(`${path} contains no files`)
  try {
    return signPackage(hashFiles(files), key)
  } catch (cause) {
    throw new Error(`${path} cannot be signed: ${(cause as Error).message}`, { cause })
  }
}

/** Returns the files together with the signature file. */
export const addSignature = (
  files: PluginFiles['files'],
  signature: string,
): PluginFiles['files'] => new Map([...files, [SIGNATURE_FILE, Buffer.from(signature)] as const])

/**
 * Returns who has signed a package. Throws an `Error` if it is not signed, or was changed since.
 */
export function verifySignature(path: string, files: PluginFiles['files']): PackageSignature {
  const content = files.get(SIGNATURE_FILE)
  if (!content) throw new Error(`${path} is not signed: it contains no ${SIGNATURE_FILE}`)
  try {
    const signature = readSignature(content.toString())
    verifyFiles(signature, hashFiles(files))
    return signature
  } catch (cause) {
    throw new Error(`${path} is not valid: ${(cause as Error).message}`, { cause })
  }
}

const hashFiles = (files: PluginFiles['files']): PackageFiles =>
  new Map([...files].map(([path, content]) => [path, hashContent(content)]))
