import {
  EyrieError,
  type Publisher,
  type PublisherInput,
  type TrustedPlugins,
} from '@eyrie/contract'
import { assertIfMatch } from '@eyrie/kit/if-match'
import type { Log } from '@eyrie/kit/log'
import { Mutex } from 'async-mutex'
import { computeEtag, type WithEtag } from '../../configuration/etag.ts'
import type { SignaturePolicy } from './signature-policy.ts'
import { openTrustFile, type TrustRecords } from './trust-file.ts'

export interface PluginTrustOptions {
  /** File that stores the publishers and exceptions that the owner has chosen. */
  file: string
  /** Whether signatures are required even while no publisher is listed. */
  requiresSignatures: boolean
  /** Lists the active versions of uploaded plugins that would not run under a policy. */
  listRefused(policy: SignaturePolicy): RefusedVersion[]
  /** Called after each change: plugins that were refused before may run now. */
  onChange(): void
  now?: () => Date
  log: Log
}

export interface PublisherOptions {
  /** Whether the change may stop active plugins that no trusted publisher has signed. */
  force?: boolean
  ifMatch?: string | undefined
}

interface RefusedVersion {
  plugin: string
  version: string
}

/**
 * The publishers of plugins that the owner of the engine trusts, and the plugins that need no
 * signature. If `ifMatch` does not match, a change rejects with `EyrieError` (`precondition`).
 */
export interface PluginTrust {
  policy(): SignaturePolicy
  get(): WithEtag<TrustedPlugins>
  /**
   * Trusts or distrusts a publisher, identified by its key. The first publisher makes signatures
   * required. Rejects with `EyrieError` (`reference`) if active plugins would stop because of that,
   * unless `force` is true.
   */
  setPublisher(
    key: string,
    input: PublisherInput,
    options?: PublisherOptions,
  ): Promise<WithEtag<TrustedPlugins>>
  /** Rejects with `EyrieError` (`id`) if the key is unknown. */
  removePublisher(key: string, ifMatch?: string): Promise<WithEtag<TrustedPlugins>>
  /** Adds an exception: a plugin that needs no signature of a trusted publisher. */
  addException(plugin: string, ifMatch?: string): Promise<WithEtag<TrustedPlugins>>
  /** Rejects with `EyrieError` (`id`) if the plugin is no exception. */
  removeException(plugin: string, ifMatch?: string): Promise<WithEtag<TrustedPlugins>>
  /** Lists an alarm if the file is damaged. */
  alarms(): string[]
}

export function createPluginTrust({
  file,
  requiresSignatures,
  listRefused,
  onChange,
  now = () => new Date(),
  log,
}: PluginTrustOptions): PluginTrust {
  const stored = openTrustFile(file, log)
  const mutex = new Mutex()

  function createPolicy(records: TrustRecords): SignaturePolicy {
    const isDamaged = stored.findDamage() !== undefined
    // A distrusted publisher counts, too. Otherwise, all packages would be accepted once the last
    // publisher is distrusted.
    const isRequired = requiresSignatures || records.publishers.length > 0 || isDamaged
    return { isRequired, ...records }
  }

  const policy = () => createPolicy(stored.records())

  function get(): WithEtag<TrustedPlugins> {
    const { isRequired, publishers, exceptions } = policy()
    const value: TrustedPlugins = {
      signatures: isRequired ? 'required' : 'optional',
      publishers: [...publishers],
      exceptions: [...exceptions],
    }
    return { value, etag: computeEtag('plugin-trust', value) }
  }

  /**
   * Stores the records that `change` returns, unless it returns undefined because nothing changes.
   */
  const edit = (
    ifMatch: string | undefined,
    change: (records: TrustRecords) => TrustRecords | undefined,
  ) =>
    mutex.runExclusive(async () => {
      assertIfMatch(ifMatch, get().etag)
      const next = change(stored.records())
      if (!next) return get()
      await stored.save(next)
      log.info(
        { publishers: next.publishers, exceptions: next.exceptions },
        'changed trusted publishers of plugins',
      )
      onChange()
      return get()
    })

  return {
    policy,
    get,
    setPublisher: (key, { name, state }, { force = false, ifMatch } = {}) =>
      edit(ifMatch, records => {
        const next = putPublisher(records, { key, name, state }, now)
        if (!next) return undefined
        const makesRequired = !policy().isRequired
        if (makesRequired && !force) assertNothingRefused(listRefused(createPolicy(next)))
        return next
      }),
    removePublisher: (key, ifMatch) => edit(ifMatch, records => withoutPublisher(records, key)),
    addException: (plugin, ifMatch) => edit(ifMatch, records => putException(records, plugin)),
    removeException: (plugin, ifMatch) =>
      edit(ifMatch, records => withoutException(records, plugin)),
    alarms: () => {
      const damage = stored.findDamage()
      return damage === undefined ? [] : [damage]
    },
  }
}

/**
 * Adds or replaces a publisher. Returns undefined if it is unchanged. The field `since` is the time
 * at which its state changed.
 */
function putPublisher(
  { publishers, exceptions }: TrustRecords,
  publisher: Omit<Publisher, 'since'>,
  now: () => Date,
): TrustRecords | undefined {
  const { key, name, state } = publisher
  const known = publishers.find(candidate => candidate.key === key)
  if (known?.name === name && known.state === state) return undefined
  const since = known?.state === state ? known.since : now().toISOString()
  const others = publishers.filter(candidate => candidate !== known)
  return { publishers: [...others, { ...publisher, since }], exceptions }
}

function withoutPublisher({ publishers, exceptions }: TrustRecords, key: string): TrustRecords {
  const others = publishers.filter(publisher => publisher.key !== key)
  if (others.length === publishers.length) {
    throw new EyrieError(
      'id',
      `there is no publisher with the key ${key}: eyrie plugin publishers lists them`,
    )
  }
  return { publishers: others, exceptions }
}

/** Returns undefined if the plugin is an exception already. */
function putException(
  { publishers, exceptions }: TrustRecords,
  plugin: string,
): TrustRecords | undefined {
  if (exceptions.includes(plugin)) return undefined
  return { publishers, exceptions: [...exceptions, plugin].sort() }
}

function withoutException({ publishers, exceptions }: TrustRecords, plugin: string): TrustRecords {
  if (!exceptions.includes(plugin)) {
    throw new EyrieError('id', `${plugin} is no exception: eyrie plugin publishers lists them`)
  }
  return { publishers, exceptions: exceptions.filter(name => name !== plugin) }
}

/**
 * Throws `EyrieError` (`reference`) if active plugins would stop, because signatures become
 * required.
 */
function assertNothingRefused(refused: readonly RefusedVersion[]): void {
  const [first] = refused
  if (!first) return
  const names = refused.map(({ plugin, version }) => `${plugin} ${version}`).join(', ')
  throw new EyrieError(
    'reference',
    'with a publisher, this engine requires signatures, ' +
      `and plugins that no trusted publisher has signed would stop: ${names}. ` +
      `Allow each of them first (eyrie plugin allow ${first.plugin}), ` +
      'or let them stop with ?force=true (eyrie plugin trust --force)',
    { value: { plugins: refused.map(({ plugin }) => plugin) } },
  )
}
