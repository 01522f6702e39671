import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  type Activation as ActivationBody,
  activation,
  COMMUNITY_LICENSE,
  EyrieError,
  type License,
  license,
  type Settings,
} from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { writeDurably } from '@eyrie/kit/durable-file'
import { type PoolEntry, readPool } from '@eyrie/license'
import { Mutex } from 'async-mutex'

/**
 * The license of the engine. Deployments require an active license. A license can be
 * activated if it is in the pool: the community license, and the licenses in a file that
 * their issuer has signed.
 */
export interface Activation {
  /**
   * Restores the activation, or activates the initial license at the first start. Throws an Error
   * if a file is invalid.
   */
  start(): Promise<void>
  /**
   * Returns the current activation. `activated` is false if the license has expired or is
   * no longer in the pool.
   */
  get(): ActivationBody
  /**
   * Activates a license. Throws `EyrieError`: `license` if the license is invalid, `activation` if
   * another license is active, unless `force` is set.
   */
  activate(license: License, options?: { force: boolean }): Promise<ActivationBody>
  /** Returns when the license expires, RFC 3339; undefined if it does not expire. */
  expiresAt(): string | undefined
  /**
   * Throws `EyrieError` (`activation`) if no license is active or the active license has expired.
   */
  assertActivated(): void
}

export interface ActivationDependencies {
  /** Folder of the activation file. */
  folder: string
  /**
   * The license to activate at the first start: `community`, the path of a license file, or `none`.
   */
  initial: string
  /** A signed file with the licenses that can be activated in addition to the community license. */
  pool: Settings['engine']['license_pool']
  /** The current time, which decides whether a license has expired. */
  now(): Date
}

/** Only the owner of the folder may list and open its files. */
const PRIVATE_FOLDER_MODE = 0o700

/** The community license can be activated without a pool file. */
const COMMUNITY_POOL: PoolEntry[] = [
  {
    customer: COMMUNITY_LICENSE.customer,
    subscription: COMMUNITY_LICENSE.subscription,
    pool: COMMUNITY_LICENSE.pool,
  },
]

export function createActivation({
  folder,
  initial,
  pool,
  now,
}: ActivationDependencies): Activation {
  const file = join(folder, 'activation.json')
  const mutex = new Mutex()
  let poolEntries = COMMUNITY_POOL
  let current: ActivationBody = { activated: false }

  /** Returns why the current license is invalid; undefined if it is valid or there is none. */
  const findCurrentProblem = () =>
    current.license && findLicenseProblem(current.license, poolEntries, now())

  const isActive = () => current.activated && !findCurrentProblem()

  const activate: Activation['activate'] = (license, { force } = { force: false }) =>
    mutex.runExclusive(async () => {
      const problem = findLicenseProblem(license, poolEntries, now())
      if (problem) throw new EyrieError('license', problem)

      if (isActive() && !force) {
        if (isDeepStrictEqual(license, current.license)) return current
        throw new EyrieError(
          'activation',
          'another license is active: add ?force=true to replace it',
          { status: 409 },
        )
      }

      const next = { activated: true, activated_at: now().toISOString(), license }
      await writeDurably(file, `${JSON.stringify(next, null, 2)}\n`)
      current = next
      return current
    })

  async function start(): Promise<void> {
    await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER_MODE })
    if (pool) {
      const signedEntries = await readValidFile(pool.file, text => readPool(text, pool.public_key))
      poolEntries = [...COMMUNITY_POOL, ...signedEntries]
    }

    const stored = await readActivation(file)
    if (stored) current = stored
    else if (initial !== 'none') await activate(await readInitialLicense(initial))
  }

  return {
    start,
    get: () => ({ ...current, activated: isActive() }),
    activate,
    expiresAt: () => current.license && findEntry(current.license, poolEntries)?.until,
    assertActivated: () => {
      if (!current.activated) {
        throw new EyrieError(
          'activation',
          'the engine is not activated: POST a license to /activation first',
        )
      }
      const problem = findCurrentProblem()
      if (problem) throw new EyrieError('activation', problem)
    },
  }
}

/** Returns the stored activation; undefined before the first activation. */
async function readActivation(file: string): Promise<ActivationBody | undefined> {
  try {
    return await readValidFile(file, text => parseAs(activation, JSON.parse(text)))
  } catch (error) {
    // The cause is the error of the file system or of the parser.
    const { code } = (error as Error).cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw error
  }
}

/** Returns the community license, or reads a license from the file at the path `initial`. */
async function readInitialLicense(initial: string): Promise<License> {
  if (initial === 'community') return COMMUNITY_LICENSE
  return readValidFile(initial, text => parseAs(license, JSON.parse(text)))
}

/** Returns why the license cannot be used; undefined if it is valid. */
function findLicenseProblem(license: License, entries: PoolEntry[], now: Date): string | undefined {
  const entry = findEntry(license, entries)
  if (!entry) return 'the license is not in the pool: use a license that was issued for this engine'
  if (entry.until && new Date(entry.until) <= now) {
    return `the license expired at ${entry.until}: renew it`
  }
}

const findEntry = (license: License, entries: PoolEntry[]) =>
  entries.find(
    ({ customer, subscription, pool }) =>
      customer === license.customer &&
      subscription === license.subscription &&
      pool === license.pool,
  )

/** Reads and parses a file. Throws an `Error` with the path of the file if either fails. */
async function readValidFile<T>(file: string, parse: (text: string) => T): Promise<T> {
  try {
    return parse(await readFile(file, 'utf8'))
  } catch (cause) {
    const { message } = cause as Error
    throw new Error(`failed to read ${file}: ${message}. Correct the file or move it elsewhere`, {
      cause,
    })
  }
}
