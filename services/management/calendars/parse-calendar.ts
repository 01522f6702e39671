import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { EyrieError } from '@eyrie/contract'
import type { CalendarOccurrence } from '../db/schema/index.ts'

const PROGRAM = resolve(import.meta.dirname, 'calendar-program.ts')
/** The code that the program reads. Packages may be linked to a folder elsewhere. */
const ROOT = resolve(import.meta.dirname, '../../..')
const PACKAGES = dirname(dirname(createRequire(import.meta.url).resolve('node-ical')))
const MAX_HEAP_MB = 128
/** Long enough for a busy machine: a file of usual size needs a fraction of a second. */
const TIMEOUT_MS = 60_000
/** Number of files that wait for the one that is being read. */
const MAX_WAITING = 8

const DAY_MS = 86_400_000
/** Events are known from so long ago, because messages of engines may arrive late. */
const PAST_MS = 30 * DAY_MS
const FUTURE_MS = 5 * 366 * DAY_MS

/** The occurrences of the events of a calendar, as they are stored. */
export interface ParsedCalendar {
  calendar_events: CalendarOccurrence[]
  events_until: Date
}

let waiting = 0
let previous: Promise<unknown> = Promise.resolve()

/**
 * Reads an iCalendar file in a process of its own that has limited time and memory and no access to anything else. One file is read
 * at a time. Throws `EyrieError`: `syntax` if the file is not supported, `unavailable` if too many wait.
 */
export async function parseCalendar(ics: string, now: Date): Promise<ParsedCalendar> {
  if (waiting >= MAX_WAITING)
    throw new EyrieError('unavailable', 'other calendars are being read: try again in a minute')
  waiting += 1
  const events_until = new Date(now.getTime() + FUTURE_MS)
  const from = new Date(now.getTime() - PAST_MS)
  const parsed = previous.then(() => runProgram(ics, from, events_until))
  previous = parsed.catch(() => {}).finally(() => (waiting -= 1))
  const { events, problem } = await parsed
  if (!events) throw new EyrieError('syntax', `calendar_ics: ${problem}`, { value: toFields(problem) })
  return { calendar_events: events, events_until }
}

const toFields = (reason = '') => ({ fields: [{ field: 'calendar_ics', reason }] })

interface ProgramResult {
  events?: CalendarOccurrence[]
  problem?: string
}

async function runProgram(ics: string, from: Date, until: Date): Promise<ProgramResult> {
  const program = spawn(
    process.execPath,
    [
      `--max-old-space-size=${MAX_HEAP_MB}`,
      '--permission',
      `--allow-fs-read=${ROOT}/*`,
      `--allow-fs-read=${PACKAGES}/*`,
      PROGRAM,
      from.toISOString(),
      until.toISOString(),
    ],
    // Local times are converted with the time zone of the process.
    { env: { TZ: 'UTC' }, stdio: 'pipe', timeout: TIMEOUT_MS, killSignal: 'SIGKILL' },
  )
  const ended = new Promise<NodeJS.Signals | null>((resolve, reject) => {
    program.on('error', reject)
    program.on('close', (_code, signal) => resolve(signal))
  })
  // A program that ends early does not read its input.
  program.stdin.on('error', () => {})
  program.stdin.end(ics)
  const [output, errors, signal] = await Promise.all([text(program.stdout), text(program.stderr), ended])
  // It is killed at the end of its time, and aborts at the end of its memory.
  if (signal)
    return { problem: 'the recurrence rules of this file need too much time or memory: simplify them' }
  if (output === '')
    throw new Error(`failed to run the program that reads calendars: ${errors.slice(0, 1000)}`)
  return JSON.parse(output)
}
