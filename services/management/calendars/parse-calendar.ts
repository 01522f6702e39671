import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { EyrieError } from '@eyrie/contract'
import { Mutex } from 'async-mutex'
import type { CalendarOccurrence } from '../db/schema/index.ts'
import { fieldError } from '../errors/field-errors.ts'

const PROGRAM_FILE = resolve(import.meta.dirname, 'calendar-program.ts')
/** The folder of this repository, with the code of the program. */
const ROOT_FOLDER = resolve(import.meta.dirname, '../../..')
/** The folder with the installed packages. The repository may link to a folder outside it. */
const PACKAGES_FOLDER = dirname(dirname(createRequire(import.meta.url).resolve('node-ical')))
const MAX_HEAP_MB = 128
/** Long enough for a busy machine: a file of usual size needs a fraction of a second. */
const TIMEOUT_MS = 60_000
/** Maximum number of files that are being parsed or are waiting to be parsed. */
const MAX_PENDING = 8

const DAY_MS = 86_400_000
/** Past events are stored for this time, because messages of engines may arrive late. */
const PAST_MS = 30 * DAY_MS
/** About five years. */
const FUTURE_MS = 5 * 366 * DAY_MS

/** The occurrences of the events of a calendar until a time, as they are stored. */
export interface ParsedCalendar {
  calendar_events: CalendarOccurrence[]
  events_until: Date
}

/** One file is parsed at a time. */
const mutex = new Mutex()
/** Number of files that are being parsed or are waiting to be parsed. */
let pendingCount = 0

/**
 * Parses an iCalendar file, which may be hostile, in a process with limited time and memory and no
 * access to other files. Throws `EyrieError`: `syntax` if the file is not supported, `unavailable`
 * if too many files are waiting.
 */
export async function parseCalendar(ics: string, now: Date): Promise<ParsedCalendar> {
  if (pendingCount >= MAX_PENDING) {
    throw new EyrieError('unavailable', 'other calendars are being read: try again in a minute')
  }
  const from = new Date(now.getTime() - PAST_MS)
  const eventsUntil = new Date(now.getTime() + FUTURE_MS)
  pendingCount += 1
  try {
    const result = await mutex.runExclusive(() => runProgram(ics, from, eventsUntil))
    if ('problem' in result) throw fieldError('calendar_ics', result.problem)
    return { calendar_events: result.events, events_until: eventsUntil }
  } finally {
    pendingCount -= 1
  }
}

/** What the program writes: either the events, or why the file is not supported. */
type ProgramResult = { events: CalendarOccurrence[] } | { problem: string }

/** Runs `calendar-program.ts`, which reads the file from stdin and writes its result to stdout. */
async function runProgram(ics: string, from: Date, until: Date): Promise<ProgramResult> {
  const program = spawn(
    process.execPath,
    [
      `--max-old-space-size=${MAX_HEAP_MB}`,
      '--permission',
      `--allow-fs-read=${ROOT_FOLDER}/*`,
      `--allow-fs-read=${PACKAGES_FOLDER}/*`,
      PROGRAM_FILE,
      from.toISOString(),
      until.toISOString(),
    ],
    // `node-ical` converts local times with the time zone of the process.
    { env: { TZ: 'UTC' }, stdio: 'pipe', timeout: TIMEOUT_MS, killSignal: 'SIGKILL' },
  )
  const ended = new Promise<NodeJS.Signals | null>((resolve, reject) => {
    program.on('error', reject)
    program.on('close', (_code, signal) => resolve(signal))
  })
  // Writing fails if the program ends before it has read its input. Its exit is handled below.
  program.stdin.on('error', () => {})
  program.stdin.end(ics)

  const [output, errors, signal] = await Promise.all([
    text(program.stdout),
    text(program.stderr),
    ended,
  ])

  // A signal ends the program when its time or its memory is used up: SIGKILL or SIGABRT.
  if (signal) {
    return {
      problem: 'the recurrence rules of this file need too much time or memory: simplify them',
    }
  }
  if (output === '') {
    throw new Error(`failed to run the program that reads calendars: ${errors.slice(0, 1000)}`)
  }
  return JSON.parse(output)
}
