import type { Publisher, VersionSignature } from '@eyrie/contract'
import type { PackageClaim } from './package-claim.ts'

/** Which plugin packages the owner of the engine accepts. */
export interface SignaturePolicy {
  /** Whether packages need the signature of a trusted publisher. */
  isRequired: boolean
  /** The publishers that the owner has trusted or distrusted. Other publishers are unknown. */
  publishers: readonly Publisher[]
  /**
   * Names of the plugins whose packages are accepted without the signature of a trusted publisher.
   */
  exceptions: readonly string[]
}

type SignedClaim = Extract<PackageClaim, { state: 'signed' }>

/**
 * Decides whether a package of a plugin may be installed and run. Returns the reason and the remedy
 * if it may not, and undefined if it may. A package with an invalid signature or of a distrusted
 * publisher is refused even if signatures are not required.
 */
export function findRefusal(
  claim: PackageClaim,
  plugin: string,
  policy: SignaturePolicy,
): string | undefined {
  if (claim.state === 'invalid') {
    return `${claim.reason}, and remove this version before you upload it`
  }

  const needsTrustedPublisher = policy.isRequired && !policy.exceptions.includes(plugin)
  if (claim.state === 'unsigned') return needsTrustedPublisher ? explainUnsigned(plugin) : undefined

  const publisher = findPublisher(policy.publishers, claim.key)
  if (publisher?.state === 'trusted') return undefined
  if (publisher) return explainDistrusted(publisher)
  return needsTrustedPublisher ? explainUnknownPublisher(claim, plugin) : undefined
}

const explainUnsigned = (plugin: string) =>
  'it is not signed, and this engine requires signatures of trusted publishers: ' +
  `have it signed with eyrie plugin sign, or accept the plugin with eyrie plugin allow ${plugin}`

const explainDistrusted = ({ name, since, key }: Publisher) =>
  `its publisher ${name} has been distrusted since ${since}: ` +
  `use a version of another publisher, or trust this one again with eyrie plugin trust ${key}`

/**
 * The name of an unknown publisher was chosen by the maker of the package. It is therefore quoted,
 * and is never part of a command that the owner may copy.
 */
const explainUnknownPublisher = ({ publisher, key }: SignedClaim, plugin: string) =>
  `it is signed by an unknown publisher that calls itself ${JSON.stringify(publisher)}: ` +
  `if its key is genuine, trust it with eyrie plugin trust ${key} --name <name>, ` +
  `or accept the plugin with eyrie plugin allow ${plugin}`

/**
 * Describes the signature of an installed version for the API. An invalid signature counts as none;
 * the reason is in the field `refused`.
 */
export function toVersionSignature(
  claim: PackageClaim,
  plugin: string,
  policy: SignaturePolicy,
): VersionSignature {
  const reason = findRefusal(claim, plugin, policy)
  const refusal = reason === undefined ? {} : { refused: reason }
  if (claim.state !== 'signed') return { state: 'unsigned', ...refusal }

  const publisher = findPublisher(policy.publishers, claim.key)
  return {
    state: 'signed',
    publisher: publisher?.name ?? claim.publisher,
    key: claim.key,
    trust: publisher?.state ?? 'unknown',
    ...refusal,
  }
}

/**
 * Finds out whether the installation of a package would hand a plugin to another publisher. Returns
 * descriptions of the present and the new publisher, or undefined if the publisher stays the same.
 * A plugin belongs to all publishers of its installed versions. As long as none of these versions
 * is signed, the plugin belongs to no one.
 */
export function findPublisherChange(
  claim: PackageClaim,
  installed: readonly PackageClaim[],
  { publishers }: SignaturePolicy,
): { from: string; to: string } | undefined {
  const signedVersions = installed.filter(version => version.state === 'signed')
  const [firstSigned] = signedVersions
  if (!firstSigned) return undefined

  const identity = identifyPublisher(claim, publishers)
  const isOwner = signedVersions.some(
    version => identifyPublisher(version, publishers) === identity,
  )
  if (isOwner) return undefined
  return {
    from: describePublisher(firstSigned, publishers),
    to: describePublisher(claim, publishers),
  }
}

/** Identifies a publisher. Two packages have the same publisher if their identities are equal. */
export type PublisherIdentity = `name ${string}` | `key ${string}` | 'unsigned' | 'invalid'

/**
 * Returns the identity of the publisher of a package. Several keys are one publisher if the owner
 * has trusted them under one name. The names in packages are not compared, because anybody can
 * write any name into a package.
 */
export function identifyPublisher(
  claim: PackageClaim,
  publishers: readonly Publisher[],
): PublisherIdentity {
  if (claim.state !== 'signed') return claim.state
  const publisher = findPublisher(publishers, claim.key)
  return publisher?.state === 'trusted' ? `name ${publisher.name}` : `key ${claim.key}`
}

function describePublisher(claim: PackageClaim, publishers: readonly Publisher[]): string {
  if (claim.state !== 'signed') return 'no one'
  const name = findPublisher(publishers, claim.key)?.name
  return name ?? `the unknown publisher ${JSON.stringify(claim.publisher)} (key ${claim.key})`
}

const findPublisher = (publishers: readonly Publisher[], key: string) =>
  publishers.find(publisher => publisher.key === key)
