import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  activation,
  type Activation as Body,
  communityLicense,
  EyrieError,
  type License,
  license,
  type Settings,
} from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { writeDurably } from '@eyrie/kit/durable-file'
import { type PoolEntry, readPool } from '@eyrie/license'

const { version: _, ...communityIds } = communityLicense

/** The licenses that can be activated without a pool file. */
const COMMUNITY_POOL: PoolEntry[] = [communityIds]

export interface ActivationDependencies {
  /** Folder of the activation file. */
  folder: string
  /** What the first start activates: `community`, a file with a license, or `none`. */
  initial: string
  /** Where licenses other than the community's are listed. */
  pool: Settings['engine']['license_pool']
  now(): Date
}

/** Whether and by which license the engine may be deployed to. */
export interface Activation {
  /** Restores the activation; at the first start activates what is set. Throws an Error if a file is not valid. */
  start(): Promise<void>
  /** A license that has ended, or is listed no longer, is told with `activated: false`. */
  get(): Body
  /** Throws EyrieError `license` for one that is not valid, `activation` for another one without `force`. */
  activate(wanted: License, force: boolean): Promise<Body>
  /** Throws EyrieError `activation` before activation and after the license has ended. */
  requireActivated(): void
}

export function createActivation({ folder, initial, pool, now }: ActivationDependencies): Activation {
  const file = join(folder, 'activation.json')
  let licenses = COMMUNITY_POOL
  let current: Body = { activated: false }

  /** Why the active license can be used no longer. */
  const ended = () => current.license && findRefusal(current.license, licenses, now())

  let last: Promise<unknown> = Promise.resolve()
  /** One after the other: of two at once the second is to be told of the first. */
  const activate: Activation['activate'] = (wanted, force) => {
    const done = last.then(() => replace(wanted, force))
    last = done.catch(() => {})
    return done
  }

  const replace: Activation['activate'] = async (wanted, force) => {
    const refused = findRefusal(wanted, licenses, now())
    if (refused) throw new EyrieError('license', refused)
    if (current.activated && !ended() && !force) {
      if (isDeepStrictEqual(wanted, current.license)) return current
      throw new EyrieError('activation', 'another license is active: add ?force=true to replace it', {
        status: 409,
      })
    }
    const next = { activated: true, activated_at: now().toISOString(), license: wanted }
    await writeDurably(file, `${JSON.stringify(next, null, 2)}\n`)
    current = next
    return current
  }

  const restore = () => readChecked(file, text => parseAs(activation, JSON.parse(text)))
  const readInitial = async (): Promise<License> =>
    initial === 'community'
      ? communityLicense
      : readChecked(initial, text => parseAs(license, JSON.parse(text)))

  return {
    start: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      if (pool)
        licenses = [
          ...COMMUNITY_POOL,
          ...(await readChecked(pool.file, text => readPool(text, pool.public_key))),
        ]
      try {
        current = await restore()
      } catch (error) {
        if (!isAbsent(error)) throw error
        if (initial !== 'none') await activate(await readInitial(), false)
      }
    },
    get: () => ({ ...current, activated: current.activated && !ended() }),
    activate,
    requireActivated: () => {
      if (!current.activated)
        throw new EyrieError('activation', 'the engine is not activated: POST a license to /activation first')
      const reason = ended()
      if (reason) throw new EyrieError('activation', reason)
    },
  }
}

/** Why the license may not be used now; undefined if it may. */
function findRefusal(wanted: License, pool: PoolEntry[], now: Date): string | undefined {
  const found = pool.find(
    ({ customer, subscription, pool }) =>
      customer === wanted.customer && subscription === wanted.subscription && pool === wanted.pool,
  )
  if (!found) return 'no pool lists this license: use one that was issued for this engine'
  if (found.until && new Date(found.until) <= now) return `this license ended at ${found.until}: renew it`
}

async function readChecked<T>(file: string, read: (text: string) => T): Promise<T> {
  try {
    return read(await readFile(file, 'utf8'))
  } catch (cause) {
    throw new Error(`${file} cannot be used: ${(cause as Error).message}. Correct it or move it away`, {
      cause,
    })
  }
}

const isAbsent = (error: unknown) => ((error as Error).cause as NodeJS.ErrnoException).code === 'ENOENT'
