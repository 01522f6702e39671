import { hashPackage, type PackageFiles } from '@eyrie/plugin-signature/package-files'
import {
  findSignature,
  type PackageSignature,
  verifyFiles,
} from '@eyrie/plugin-signature/package-signature'
import type { KnownPlugin } from '../../plugin-host/known-plugin.ts'

/** What an installed package says about its publisher. */
export type PackageClaim =
  | { state: 'unsigned' }
  /** The signature matches its list of files. */
  | { state: 'signed'; publisher: string; key: string }
  /** The signature is present, but wrong. */
  | { state: 'invalid'; reason: string }

const UNSIGNED: PackageClaim = { state: 'unsigned' }

/** The claims that were read before, by plugin. */
const claims = new WeakMap<object, PackageClaim>()

/**
 * Reads who has signed an installed plugin, without reading its other files: these are verified
 * when a process starts.
 */
export function readClaim(plugin: Pick<KnownPlugin, 'folder'>): PackageClaim {
  const known = claims.get(plugin)
  if (known) return known
  const claim = readClaimOfFolder(plugin.folder)
  claims.set(plugin, claim)
  return claim
}

/**
 * Verifies the signature of an unpacked package, if it has one. Throws `PackageSignatureError` if
 * the package was changed after it was signed.
 */
export async function verifyClaim(folder: string, files?: PackageFiles): Promise<PackageClaim> {
  const signature = findSignature(folder)
  if (!signature) return UNSIGNED
  verifyFiles(signature, files ?? (await hashPackage(folder)))
  return toClaim(signature)
}

function readClaimOfFolder(folder: string): PackageClaim {
  try {
    const signature = findSignature(folder)
    return signature ? toClaim(signature) : UNSIGNED
  } catch (error) {
    return { state: 'invalid', reason: (error as Error).message }
  }
}

const toClaim = ({ publisher, key }: PackageSignature): PackageClaim => ({
  state: 'signed',
  publisher,
  key,
})
