import { EyrieError } from '@eyrie/contract'
import type { Drift } from '@eyrie/contract/management/index'
import type { Log } from '@eyrie/kit'
import type { Database } from '../db/database.ts'
import { logUnlessUnavailable } from '../db/database-errors.ts'
import { engine, FLEET_CHANNEL } from '../db/schema/index.ts'
import type { Ingest } from '../events/ingest/ingest-port.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { createLink, type Link, type Timing } from './connection/engine-link.ts'
import { type LocalEngine, registerLocalEngine } from './registry/local-engine.ts'

/** What operations ask of the engines. */
export interface Fleet {
  seen(engine_id: string): { checked_at: Date | null; drift: Drift[] }
  /** Looks at an engine now, if it is there. */
  look(engine_id: string): Promise<void>
  /** Makes an engine what is stored, whatever was changed there. Rejects with EyrieError `unavailable` if it is away. */
  repair(engine_id: string): Promise<void>
}

export interface RunningFleet extends Fleet {
  /** Begins to follow the engines of this database. */
  start(database: Database): void
  stop(): Promise<void>
}

export interface FleetOptions {
  secrets: Secrets
  createIngest(database: Database): Ingest
  /** Registered at the first start. */
  local?: LocalEngine | undefined
  log: Log
  timing?: Partial<Timing> | undefined
}

const usual: Timing = {
  sampleMs: 10_000,
  keepMs: 7 * 24 * 3_600_000,
  lookMs: 5000,
  checkMs: 60_000,
  recovery: { initialMs: 5000, maxMs: 300_000 },
}

/** Manages every engine that is registered: one link each, woken by what changes in the database. */
export function createFleet({ secrets, createIngest, local, log, timing }: FleetOptions): RunningFleet {
  const links = new Map<string, Link>()
  let stopListening: (() => Promise<void>) | undefined
  let isStopping = false

  return {
    seen: engine_id => links.get(engine_id)?.seen() ?? { checked_at: null, drift: [] },

    look: async engine_id => links.get(engine_id)?.look(),

    async repair(engine_id) {
      const link = links.get(engine_id)
      if (!link)
        throw new EyrieError('unavailable', 'the engine is not followed yet: try again in a few seconds')
      await link.repair()
    },

    start(database) {
      const ingest = createIngest(database)
      const open = (engine_id: string) =>
        links.set(
          engine_id,
          createLink({ engine_id, database, secrets, ingest, log, timing: { ...usual, ...timing } }),
        )
      /** Links those that are new, unlinks those that are gone; `told` has changed. */
      const look = async (told?: string) => {
        const rows = await database.system('follow engines', tx =>
          tx.select({ engine_id: engine.engine_id }).from(engine),
        )
        if (isStopping) return
        const present = new Set(rows.map(({ engine_id }) => engine_id))
        for (const engine_id of present) if (!links.has(engine_id)) open(engine_id)
        for (const [engine_id, link] of links) {
          if (present.has(engine_id)) continue
          links.delete(engine_id)
          // It finds that out by itself, and ends.
          link.wake()
        }
        if (told === undefined) for (const link of links.values()) link.wake()
        else links.get(told)?.wake()
      }
      const lookOrTell = (told?: string) =>
        void database
          .retryUntilAvailable(() => look(told))
          .catch(logUnlessUnavailable(log, 'the engines cannot be looked at'))
      if (local)
        database
          .retryUntilAvailable(() => registerLocalEngine(database, secrets, local))
          .catch(logUnlessUnavailable(log, 'the engine of this box cannot be registered'))
      stopListening = database.listen(FLEET_CHANNEL, lookOrTell, () => lookOrTell())
    },

    async stop() {
      isStopping = true
      await Promise.all([stopListening?.(), ...[...links.values()].map(link => link.stop())])
    },
  }
}
