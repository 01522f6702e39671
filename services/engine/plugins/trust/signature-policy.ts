import type { Publisher, VersionSignature } from '@eyrie/contract'
import type { PackageClaim } from './package-claim.ts'

/** Which packages the owner of the engine accepts. */
export interface SignaturePolicy {
  /** Whether packages need the signature of a trusted publisher. */
  isRequired: boolean
  publishers: readonly Publisher[]
  /** Names of plugins that need none. */
  exceptions: readonly string[]
}

/**
 * Returns why a package is neither installed nor run, with the remedy; undefined if it is. Names of unknown publishers are
 * quoted, and never part of a command: they are what strangers have chosen.
 */
export function findRefusal(
  claim: PackageClaim,
  plugin: string,
  { isRequired, publishers, exceptions }: SignaturePolicy,
): string | undefined {
  if (claim.state === 'invalid') return `${claim.reason}, and remove this version before you upload it`
  const isAccepted = !isRequired || exceptions.includes(plugin)
  if (claim.state === 'unsigned')
    return isAccepted
      ? undefined
      : `it is not signed, and this engine requires signatures of trusted publishers: have it signed with eyrie plugin sign, or accept the plugin with eyrie plugin allow ${plugin}`

  const publisher = findPublisher(publishers, claim.key)
  if (publisher?.state === 'trusted') return undefined
  if (publisher)
    return `its publisher ${publisher.name} has been distrusted since ${publisher.since}: use a version of another publisher, or trust this one again with eyrie plugin trust ${claim.key}`
  return isAccepted
    ? undefined
    : `it is signed by an unknown publisher that calls itself ${JSON.stringify(claim.publisher)}: if its key is genuine, trust it with eyrie plugin trust ${claim.key} --name <name>, or accept the plugin with eyrie plugin allow ${plugin}`
}

/** Describes the signature of an installed version. */
export function toVersionSignature(
  claim: PackageClaim,
  plugin: string,
  policy: SignaturePolicy,
): VersionSignature {
  const refused = findRefusal(claim, plugin, policy)
  const refusal = refused === undefined ? {} : { refused }
  if (claim.state !== 'signed') return { state: 'unsigned', ...refusal }
  const { key } = claim
  const publisher = findPublisher(policy.publishers, key)
  return {
    state: 'signed',
    publisher: publisher?.name ?? claim.publisher,
    key,
    trust: publisher?.state ?? 'unknown',
    ...refusal,
  }
}

/**
 * Returns which publisher a plugin would change to with a package; undefined if the name stays with its publisher. A name
 * belongs to all publishers of its installed versions. As long as none of these is signed, it belongs to no one.
 */
export function findPublisherChange(
  claim: PackageClaim,
  installed: readonly PackageClaim[],
  { publishers }: SignaturePolicy,
): { from: string; to: string } | undefined {
  const owners = installed.filter(each => each.state === 'signed')
  if (owners.length === 0) return undefined
  const isOwner = (owner: PackageClaim) =>
    identifyPublisher(owner, publishers) === identifyPublisher(claim, publishers)
  if (owners.some(isOwner)) return undefined
  return { from: describePublisher(owners[0]!, publishers), to: describePublisher(claim, publishers) }
}

/** Keys of one name are one publisher if the owner has named them so; the names in packages prove nothing. */
export function identifyPublisher(claim: PackageClaim, publishers: readonly Publisher[]): string {
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
