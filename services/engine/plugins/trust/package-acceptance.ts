import { EyrieError } from '@eyrie/contract'
import { PackageSignatureError } from '@eyrie/plugin-signature/package-signature'
import { type PackageClaim, verifyClaim } from './package-claim.ts'
import { findPublisherChange, findRefusal, type SignaturePolicy } from './signature-policy.ts'

/**
 * Decides whether uploaded packages are installed and run. The functions that assert throw
 * `EyrieError` (`signature`).
 */

/** A version of an uploaded plugin, and the claim of its package about who has signed it. */
export interface SignedVersion {
  name: string
  version: string
  claim: PackageClaim
}

/**
 * Asserts that the files of an unpacked package are the signed ones, before any of them is used.
 * Returns who has signed it.
 */
export async function assertUnchanged(folder: string): Promise<PackageClaim> {
  try {
    return await verifyClaim(folder)
  } catch (error) {
    if (!(error instanceof PackageSignatureError)) throw error
    const { message, file } = error
    throw new EyrieError('signature', `the package is not installed: ${message}`, {
      ...(file !== undefined && { value: { file } }),
      cause: error,
    })
  }
}

/** Asserts that the policy permits installing a package. */
export function assertAccepted(
  { name, version, claim }: SignedVersion,
  policy: SignaturePolicy,
): void {
  const reason = findRefusal(claim, name, policy)
  if (reason === undefined) return
  throw new EyrieError(
    'signature',
    `version ${version} of plugin ${name} is not installed: ${reason}`,
  )
}

/**
 * Asserts that a version does not hand the plugin to another publisher. `installed` are the claims
 * of its installed versions.
 */
export function assertSamePublisher(
  { name, version, claim }: SignedVersion,
  installed: readonly PackageClaim[],
  policy: SignaturePolicy,
): void {
  const change = findPublisherChange(claim, installed, policy)
  if (!change) return
  throw new EyrieError(
    'signature',
    `version ${version} of plugin ${name} is signed by ${change.to}, but its installed versions by ${change.from}: ` +
      'if the plugin has another publisher now, upload it with ?new-publisher=true (eyrie plugin add --new-publisher)',
  )
}

/** Asserts that the policy permits running an installed version. */
export function assertMayRun(installed: SignedVersion, policy: SignaturePolicy): void {
  const refusal = describeRefusal(installed, policy)
  if (refusal !== undefined) throw new EyrieError('signature', refusal)
}

/** Returns why an installed version does not run, with the remedy; undefined if it may run. */
export function describeRefusal(
  { name, version, claim }: SignedVersion,
  policy: SignaturePolicy,
): string | undefined {
  const reason = findRefusal(claim, name, policy)
  return reason && `version ${version} of plugin ${name} does not start: ${reason}`
}
