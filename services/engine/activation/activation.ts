import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  type Activation as ActivationBody,
  activation,
  communityLicense,
  EyrieError,
  type License,
  license,
  type Settings,
} from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { writeDurably } from '@eyrie/kit/durable-file'
import { type PoolEntry, readPool } from '@eyrie/license'
import { Mutex } from 'async-mutex'

const { version: _, ...communityIds } = communityLicense

/** The licenses that can be activated without a pool file. */
const COMMUNITY_POOL: PoolEntry[] = [communityIds]

export interface ActivationDependencies {
  /** Folder of the activation file. */
  folder: string
  /** The license to activate at the first start: `community`, the path of a license file, or `none`. */
  initial: string
  /** File with the licenses that can be activated in addition to the community license. */
  pool: Settings['engine']['license_pool']
  now(): Date
}

/** The license of the engine. Deployments require an active one. */
export interface Activation {
  /** Restores the activation, or activates the initial license at the first start. Throws an Error for invalid files. */
  start(): Promise<void>
  /** `activated` is false if the license has expired or is no longer in the pool. */
  get(): ActivationBody
  /** Throws `EyrieError`: `license` for an invalid license, `activation` if another one is active and `force` is false. */
  activate(license: License, force: boolean): Promise<ActivationBody>
  /** Throws `EyrieError` (`activation`) if no license is active or it has expired. */
  assertActivated(): void
}

export function createActivation({ folder, initial, pool, now }: ActivationDependencies): Activation {
  const file = join(folder, 'activation.json')
  const mutex = new Mutex()
  let licenses = COMMUNITY_POOL
  let current: ActivationBody = { activated: false }

  /** Why the current license is no longer valid; undefined if it is valid. */
  const findCurrentProblem = () => current.license && findLicenseProblem(current.license, licenses, now())

  const activate: Activation['activate'] = (license, force) =>
    mutex.runExclusive(async () => {
      const problem = findLicenseProblem(license, licenses, now())
      if (problem) throw new EyrieError('license', problem)
      if (current.activated && !findCurrentProblem() && !force) {
        if (isDeepStrictEqual(license, current.license)) return current
        throw new EyrieError('activation', 'another license is active: add ?force=true to replace it', {
          status: 409,
        })
      }
      const next = { activated: true, activated_at: now().toISOString(), license }
      await writeDurably(file, `${JSON.stringify(next, null, 2)}\n`)
      current = next
      return current
    })

  async function readInitialLicense(): Promise<License> {
    if (initial === 'community') return communityLicense
    return readValidFile(initial, text => parseAs(license, JSON.parse(text)))
  }

  return {
    start: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      if (pool) {
        const entries = await readValidFile(pool.file, text => readPool(text, pool.public_key))
        licenses = [...COMMUNITY_POOL, ...entries]
      }
      try {
        current = await readValidFile(file, text => parseAs(activation, JSON.parse(text)))
      } catch (error) {
        if (!isMissingFile(error)) throw error
        if (initial !== 'none') await activate(await readInitialLicense(), false)
      }
    },
    get: () => ({ ...current, activated: current.activated && !findCurrentProblem() }),
    activate,
    assertActivated: () => {
      if (!current.activated)
        throw new EyrieError('activation', 'the engine is not activated: POST a license to /activation first')
      const problem = findCurrentProblem()
      if (problem) throw new EyrieError('activation', problem)
    },
  }
}

/** Why the license cannot be used now; undefined if it can. */
function findLicenseProblem(license: License, pool: PoolEntry[], now: Date): string | undefined {
  const entry = pool.find(
    ({ customer, subscription, pool }) =>
      customer === license.customer && subscription === license.subscription && pool === license.pool,
  )
  if (!entry) return 'the license is not in the pool: use a license that was issued for this engine'
  if (entry.until && new Date(entry.until) <= now) return `the license expired at ${entry.until}: renew it`
}

async function readValidFile<T>(file: string, parse: (text: string) => T): Promise<T> {
  try {
    return parse(await readFile(file, 'utf8'))
  } catch (cause) {
    throw new Error(
      `failed to read ${file}: ${(cause as Error).message}. Correct the file or move it elsewhere`,
      {
        cause,
      },
    )
  }
}

const isMissingFile = (error: unknown) => ((error as Error).cause as NodeJS.ErrnoException).code === 'ENOENT'
