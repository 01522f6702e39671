import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseAs } from '@eyrie/contract/parse'
import { z } from 'zod'
import { writeDurably } from './durable-file.ts'
import type { Log } from './log.ts'

const DAY_MS = 86_400_000
/** How often the history is stored while nothing special happens. */
const STORE_INTERVAL_MS = 600_000

const clockHistory = z.strictObject({
  /** The time that is trusted. Epoch ms. */
  trustedMs: z.number(),
  /**
   * The other time that the wall clock has shown, and for how long this machine has run while the
   * wall clock showed that time or, after a leap ahead, a later one.
   */
  leap: z.strictObject({ wallMs: z.number(), lastedMs: z.number() }).optional(),
})

/** What is known about the wall clock of this machine from previous observations. */
type ClockHistory = z.output<typeof clockHistory>

/**
 * Decides which time to trust for deleting old data, so that a wrong clock does not delete
 * everything. Usually it is that of the wall clock. When the wall clock has leapt by more than a
 * day, the trusted time continues from its last value, at the pace of a monotonic clock, until this
 * machine has run for a day with the new time. A legitimate leap, such as after a month in which
 * the machine was off, thus delays deletions by a day. Further leaps ahead confirm the first one,
 * or a machine that is off for days before each short run would never trust its clock.
 *
 * `wallMs` is in epoch ms. `elapsedMs` is the monotonic time since the previous observation, or
 * since the start of the service.
 */
function observeClock(
  { trustedMs: lastTrustedMs, leap }: ClockHistory,
  wallMs: number,
  elapsedMs: number,
): ClockHistory {
  const trustedMs = lastTrustedMs + elapsedMs
  if (isNear(wallMs, trustedMs)) return { trustedMs: wallMs }

  const newLeap = { wallMs, lastedMs: 0 }
  if (leap === undefined) return { trustedMs, leap: newLeap }

  const expectedMs = leap.wallMs + elapsedMs
  const isSameLeap = isNear(wallMs, expectedMs)
  const isConfirmed = isSameLeap || (wallMs > expectedMs && expectedMs > trustedMs)
  if (!isConfirmed) return { trustedMs, leap: newLeap }

  const lastedMs = leap.lastedMs + elapsedMs
  if (lastedMs < DAY_MS) {
    return { trustedMs, leap: { wallMs: isSameLeap ? wallMs : expectedMs, lastedMs } }
  }
  return isSameLeap ? { trustedMs: wallMs } : { trustedMs: expectedMs, leap: newLeap }
}

const isNear = (aMs: number, bMs: number) => Math.abs(aMs - bMs) <= DAY_MS

export interface RetentionClockOptions {
  /** Stores the history, so that a restart is no reason to trust a wrong clock. */
  file: string
  /** Epoch ms. */
  wall(): number
  /** Monotonic time in ms. */
  monotonic?(): number
  log: Log
}

export interface RetentionTime {
  /** The time by which the age of data is to be measured. Never later than the wall clock. */
  nowMs: number
  /** While the wall clock is ahead: when it will be trusted, as it shows that time. */
  postponedUntilMs: number | undefined
}

/** The clock by which old data is deleted. See `observeClock`. */
export interface RetentionClock {
  /**
   * Observes the wall clock. Logs a warning when it has leapt ahead. `findNewest` returns the
   * newest time in the store, in epoch ms; it is called if there is no history yet.
   */
  read(findNewest: () => Promise<number | undefined>): Promise<RetentionTime>
}

export function createRetentionClock({
  file,
  wall,
  monotonic = () => performance.now(),
  log,
}: RetentionClockOptions): RetentionClock {
  let history: ClockHistory | undefined
  /** The monotonic times of the last observation and of the last write. */
  let observedAtMs = monotonic()
  let storedAtMs = Number.NEGATIVE_INFINITY
  let isReported = false

  // Files are read and written without blocking: the disk of recordings may hang.

  async function load(findNewest: () => Promise<number | undefined>): Promise<ClockHistory> {
    try {
      return parseAs(clockHistory, JSON.parse(await readFile(file, 'utf8')))
    } catch (error) {
      const isFirstStart = (error as NodeJS.ErrnoException).code === 'ENOENT'
      if (!isFirstStart) log.warn({ err: error, file }, 'failed to read history of clock')
    }
    return { trustedMs: (await findNewest()) ?? wall() }
  }

  async function store(stored: ClockHistory): Promise<void> {
    try {
      await mkdir(dirname(file), { recursive: true })
      await writeDurably(file, `${JSON.stringify(stored)}\n`)
    } catch (error) {
      // A full disk must not prevent deletions.
      log.debug({ err: error, file }, 'failed to store history of clock')
    }
  }

  function report({ trustedMs, leap }: ClockHistory, untilMs: number | undefined): void {
    const isNew = !isReported || leap?.lastedMs === 0
    if (leap && untilMs !== undefined && isNew) {
      log.warn(
        {
          clock: formatTime(leap.wallMs),
          expected: formatTime(trustedMs),
          postponed_until: formatTime(untilMs),
        },
        'postponed deletion of old data: the clock is more than a day ahead, set it if it is wrong',
      )
    }
    isReported = untilMs !== undefined
  }

  return {
    async read(findNewest) {
      const previous = history ?? (await load(findNewest))
      const wallMs = wall()
      const atMs = monotonic()
      history = observeClock(previous, wallMs, atMs - observedAtMs)
      observedAtMs = atMs

      const { trustedMs, leap } = history
      const isAhead = wallMs > trustedMs
      const postponedUntilMs = leap && isAhead ? wallMs + DAY_MS - leap.lastedMs : undefined
      report(history, postponedUntilMs)

      const hasLeapt = (leap === undefined) !== (previous.leap === undefined)
      if (hasLeapt || atMs - storedAtMs >= STORE_INTERVAL_MS) {
        await store(history)
        storedAtMs = atMs
      }
      return { nowMs: Math.min(wallMs, trustedMs), postponedUntilMs }
    },
  }
}

const formatTime = (ms: number) => new Date(ms).toISOString()
