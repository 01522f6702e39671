import type { OutputMessage } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { findPostgresError } from '../../db/database-errors.ts'
import { engine } from '../../db/schema/index.ts'
import type { OutputProgress } from './output-position.ts'
import { RepeatedProblems } from './repeated-problems.ts'

/** A part of a message that is not stored, although the message is. */
export interface IgnoredPart {
  channel_id: string
  seq: number
  reason: string
}

/** Logs what is lost of the output of engines. */
export interface IngestReports {
  /** Reports messages that the engine has deleted before they were stored. */
  reportGaps(engineId: string, gaps: OutputProgress['gaps']): Promise<void>
  /** Reports a message that is not stored, because an attempt to store it failed with `error`. */
  reportSkipped(engineId: string, message: OutputMessage, error: unknown): Promise<void>
  reportIgnored(engineId: string, parts: readonly IgnoredPart[]): Promise<void>
}

/** Interval at which it is logged that messages are still skipped. */
const SKIPPED_INTERVAL_MS = 60_000
/** Interval at which it is logged that parts of messages are still ignored. */
const IGNORED_INTERVAL_MS = 3_600_000

/** `now` returns the time of a monotonic clock in ms. */
export function createIngestReports(
  database: Database,
  log: Log,
  now: () => number,
): IngestReports {
  const skipped = new RepeatedProblems(SKIPPED_INTERVAL_MS, now)
  const ignored = new RepeatedProblems(IGNORED_INTERVAL_MS, now)

  /** A loss is reported even if the name of the engine cannot be read. */
  const describeEngine = async (engineId: string) => ({
    engine: await readEngineName(database, engineId).catch(() => undefined),
    engine_id: engineId,
  })

  return {
    async reportGaps(engineId, gaps) {
      for (const gap of gaps) {
        const fields = { ...(await describeEngine(engineId)), ...gap }
        log.warn(fields, 'engine has dropped messages before they were stored')
      }
    },

    async reportSkipped(engineId, { seq, kind, channel, data }, error) {
      const cause = findPostgresError(error) ?? (error as NodeJS.ErrnoException)
      const { code, message: reason } = cause
      const problem = `${engineId} ${channel} ${kind} ${code ?? cause.name}`
      const messages = skipped.count(problem, seq)
      if (!messages) return
      // The shape of the data may be the reason for which the message is skipped.
      const type = (data as { type?: unknown } | null)?.type
      log.error(
        {
          ...(await describeEngine(engineId)),
          channel,
          kind,
          type,
          ...messages,
          code,
          reason,
          err: error,
        },
        'skipped engine messages that cannot be stored',
      )
    },

    async reportIgnored(engineId, parts) {
      for (const { channel_id: channelId, seq, reason } of parts) {
        const messages = ignored.count(`${engineId} ${channelId} ${reason}`, seq)
        if (!messages) continue
        log.warn(
          { ...(await describeEngine(engineId)), channel_id: channelId, ...messages, reason },
          'ignored parts of engine messages that cannot be stored',
        )
      }
    },
  }
}

const readEngineName = (database: Database, engineId: string) =>
  database.system('events', async tx => {
    const [row] = await tx.select().from(engine).where(eq(engine.engine_id, engineId))
    return row?.engine_name
  })
