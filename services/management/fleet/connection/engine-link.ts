import { setTimeout as wait } from 'node:timers/promises'
import { createClient } from '@eyrie/client'
import { EyrieError } from '@eyrie/contract'
import { type Drift, ENGINE_STATUS } from '@eyrie/contract/management/index'
import type { Backoff, Log } from '@eyrie/kit'
import type { Database } from '../../db/database.ts'
import { logUnlessUnavailable } from '../../db/database-errors.ts'
import type { Ingest } from '../../events/ingest/ingest-port.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { type EngineRecord, isReachedAlike, readRecord, waitMs } from '../registry/engine-record.ts'
import { readFacts } from '../status/engine-facts.ts'
import { createEngineStates, statusOf } from '../status/engine-states.ts'
import { createRecovery } from './channel-recovery.ts'
import { type MonitorTiming, sampleLoad, watchConfiguration } from './engine-monitors.ts'
import { createSession, type Session } from './engine-session.ts'
import { unfollow } from './output-follower.ts'
import { createPause } from './pause.ts'

export interface Timing extends MonitorTiming {
  /** Delay between two attempts to start a channel that fails. */
  recovery: Backoff
}

export interface LinkOptions {
  engine_id: string
  database: Database
  secrets: Secrets
  ingest: Ingest
  log: Log
  timing: Timing
}

/** The whole life with one engine: connects, follows, connects again. */
export interface Link {
  /** Something stored has changed. */
  wake(): void
  /** Where the engine was not as it is stored, and when that was looked at; null: not yet. */
  seen(): { checked_at: Date | null; drift: Drift[] }
  /** Looks at the engine now; what is not to be seen within seconds, or is away, is left as it was seen last. */
  look(): Promise<void>
  /** Rejects with EyrieError `unavailable` where the engine is not there. */
  repair(): Promise<void>
  stop(): Promise<void>
}

/** Who asks how an engine is waits no longer than this for what it is now. */
const LOOK_MS = 5000

export function createLink(options: LinkOptions): Link {
  const { engine_id, database, secrets, log, timing } = options
  const states = createEngineStates(database, engine_id)
  const recovery = createRecovery(timing.recovery)
  const stopping = new AbortController()
  const pause = createPause(stopping.signal)
  let record: EngineRecord | undefined
  let session: Session | undefined
  let last: Told = { status: ENGINE_STATUS.unknown, reason: 'it has not been reached yet' }
  let seen: ReturnType<Link['seen']> = { checked_at: null, drift: [] }
  let over = new AbortController()

  /** The engine as the log names it. */
  const its = () => ({ engine: record?.name, url: record?.address.url, engine_id })

  /** Resolves with what has ended the connection, and whether there was one. */
  async function connect({ address }: EngineRecord): Promise<{ error: unknown; wasUp: boolean }> {
    over = new AbortController()
    const signal = AbortSignal.any([over.signal, stopping.signal])
    const engine = createClient({ ...address, signal })
    try {
      const facts = await readFacts(engine, address)
      await states.online(facts)
      log.info({ ...its(), version: facts.about.version }, 'an engine is there')
      session = createSession({
        ...{ ...options, engine, states, recovery, log: log.child(its()) },
        onReconciled: drift => {
          seen = { checked_at: new Date(), drift }
        },
      })
      const monitored = { engine, states, session, timing, signal }
      return await Promise.race([
        sampleLoad(monitored),
        watchConfiguration(monitored),
        session.run(),
        aborted(signal),
      ])
    } catch (error) {
      return { error, wasUp: session !== undefined }
    } finally {
      session = undefined
      over.abort(new EyrieError('unavailable', 'the connection to the engine has ended'))
    }
  }

  async function live(): Promise<void> {
    for (let attempt = 0; !stopping.signal.aborted; ) {
      const before = record
      record = await readRecord(database, engine_id, secrets)
      if (!record)
        return before && unfollow(createClient({ ...before.address, signal: stopping.signal }), pause)
      if (!before) await states.notHeard(ENGINE_STATUS.unknown, '')
      if (!isReachedAlike(before, record)) attempt = 0
      const { error, wasUp } = await connect(record)
      if (stopping.signal.aborted) return
      // What is managed no longer has nowhere to be written down.
      if (error instanceof Changed || !(await readRecord(database, engine_id, secrets))) continue
      if (!(error instanceof EyrieError)) log.error({ ...its(), err: error }, 'an engine cannot be followed')
      const told = statusOf(error)
      await states.notHeard(told.status, told.reason)
      if (wasUp) attempt = 0
      // Where everything stops at once, engines stop, too.
      if (stopping.signal.aborted) return
      if (wasUp || isNews(told, last)) log.warn({ ...its(), reason: told.reason }, 'an engine is away')
      last = told
      attempt += 1
      await pause.wait(waitMs(attempt, record.retry))
    }
  }

  /** What goes wrong here is the database's doing, or our own. */
  async function keepLiving(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        return await live()
      } catch (error) {
        logUnlessUnavailable(log, 'an engine cannot be followed', its())(error)
        await pause.wait(1000)
      }
    }
  }

  async function lookAgain(): Promise<void> {
    const now = await readRecord(database, engine_id, secrets)
    if (isReachedAlike(now, record)) {
      record = now
      return session?.wake()
    }
    over.abort(new Changed())
    pause.end()
  }

  const living = keepLiving()
  return {
    wake: () =>
      void database
        .retryUntilAvailable(lookAgain)
        .catch(logUnlessUnavailable(log, 'a change was not seen', its())),
    seen: () => seen,
    async look() {
      await Promise.race([session?.look(), wait(LOOK_MS, undefined, { ref: false })])
    },
    async repair() {
      pause.end()
      if (!session) throw new EyrieError('unavailable', `the engine is not there: ${last.reason}`)
      await Promise.race([session.repair(), aborted(over.signal)])
    },
    async stop() {
      stopping.abort()
      await living
    },
  }
}

type Told = ReturnType<typeof statusOf>

/** Whether the log is to say it. An engine that is gone cannot be reached, either: in which way does not matter. */
const isNews = (told: Told, last: Told) =>
  told.status !== last.status || (told.status !== ENGINE_STATUS.offline && told.reason !== last.reason)

/** The engine is reached otherwise now. */
class Changed extends Error {}

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
