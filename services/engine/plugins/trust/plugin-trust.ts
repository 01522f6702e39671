import { EyrieError, type PublisherInput, type TrustedPlugins } from '@eyrie/contract'
import type { Log } from '@eyrie/kit/log'
import { Mutex } from 'async-mutex'
import { assertIfMatch, computeEtag, type WithEtag } from '../../configuration/etag.ts'
import type { SignaturePolicy } from './signature-policy.ts'
import { openTrustFile, type TrustRecords } from './trust-file.ts'

export interface PluginTrustOptions {
  /** File that stores the choices of the owner. */
  file: string
  /** Whether signatures are required even while no publisher is listed. */
  requiresSignatures: boolean
  /** Lists the active versions of uploaded plugins that do not run under a policy. */
  listRefused(policy: SignaturePolicy): { plugin: string; version: string }[]
  /** Called after each change, when plugins may run that were refused. */
  onChange(): void
  now?: () => Date
  log: Log
}

export interface PublisherOptions {
  force?: boolean
  ifMatch?: string | undefined
}

/** The publishers of plugins that the owner of the engine trusts, and the plugins that need no signature. */
export interface PluginTrust {
  policy(): SignaturePolicy
  get(): WithEtag<TrustedPlugins>
  /**
   * Trusts or distrusts a publisher. Throws `EyrieError` (`reference`) if signatures are required now, which active plugins do
   * not have, unless `force` is true.
   */
  setPublisher(
    key: string,
    input: PublisherInput,
    options?: PublisherOptions,
  ): Promise<WithEtag<TrustedPlugins>>
  removePublisher(key: string, ifMatch?: string): Promise<WithEtag<TrustedPlugins>>
  addException(plugin: string, ifMatch?: string): Promise<WithEtag<TrustedPlugins>>
  removeException(plugin: string, ifMatch?: string): Promise<WithEtag<TrustedPlugins>>
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

  function policy(records = stored.records()): SignaturePolicy {
    // A distrusted publisher counts, too: to distrust the last one must not open the engine to all others.
    const isRequired = requiresSignatures || records.publishers.length > 0 || stored.damage() !== undefined
    return { isRequired, ...records }
  }

  function get(): WithEtag<TrustedPlugins> {
    const { isRequired, publishers, exceptions } = policy()
    const value: TrustedPlugins = {
      signatures: isRequired ? 'required' : 'optional',
      publishers: [...publishers],
      exceptions: [...exceptions],
    }
    return { value, etag: computeEtag('plugin-trust', value) }
  }

  /** Stores what `change` returns, if it returns anything. */
  const edit = (ifMatch: string | undefined, change: (records: TrustRecords) => TrustRecords | undefined) =>
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
    policy: () => policy(),
    get,
    setPublisher: (key, { name, state }, { force = false, ifMatch } = {}) =>
      edit(ifMatch, ({ publishers, exceptions }) => {
        const known = publishers.find(publisher => publisher.key === key)
        if (known?.name === name && known.state === state) return undefined
        const since = known?.state === state ? known.since : now().toISOString()
        const others = publishers.filter(publisher => publisher !== known)
        const next = { publishers: [...others, { key, name, state, since }], exceptions }
        if (!force && !policy().isRequired) assertNothingRefused(listRefused(policy(next)))
        return next
      }),
    removePublisher: (key, ifMatch) =>
      edit(ifMatch, ({ publishers, exceptions }) => {
        const others = publishers.filter(publisher => publisher.key !== key)
        if (others.length === publishers.length)
          throw new EyrieError(
            'id',
            `there is no publisher with the key ${key}: eyrie plugin publishers lists them`,
          )
        return { publishers: others, exceptions }
      }),
    addException: (plugin, ifMatch) =>
      edit(ifMatch, ({ publishers, exceptions }) =>
        exceptions.includes(plugin) ? undefined : { publishers, exceptions: [...exceptions, plugin].sort() },
      ),
    removeException: (plugin, ifMatch) =>
      edit(ifMatch, ({ publishers, exceptions }) => {
        if (!exceptions.includes(plugin))
          throw new EyrieError('id', `${plugin} is no exception: eyrie plugin publishers lists them`)
        return { publishers, exceptions: exceptions.filter(name => name !== plugin) }
      }),
    alarms: () => {
      const damage = stored.damage()
      return damage === undefined ? [] : [damage]
    },
  }
}

/** The first publisher makes signatures required, which ends plugins that run without one. */
function assertNothingRefused(refused: readonly { plugin: string; version: string }[]): void {
  const [first] = refused
  if (!first) return
  const names = refused.map(({ plugin, version }) => `${plugin} ${version}`).join(', ')
  throw new EyrieError(
    'reference',
    `with a publisher, this engine requires signatures, and plugins that no trusted publisher has signed would stop: ${names}. Allow each of them first (eyrie plugin allow ${first.plugin}), or let them stop with ?force=true (eyrie plugin trust --force)`,
    { value: { plugins: refused.map(({ plugin }) => plugin) } },
  )
}
