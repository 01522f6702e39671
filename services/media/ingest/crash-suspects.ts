import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Log, unlessAborted } from '@eyrie/kit'
import { Mutex } from 'async-mutex'
import { z } from 'zod'
import type { Clock } from '../runtime/clock.ts'
import type { SourceIdentity } from '../sources/source.ts'
import { SourceFault } from './origin/source-fault.ts'
import { stripCredentials } from './origin/url-credentials.ts'

/**
 * Finds the source that crashes media at every start, so that the other cameras come back. Each
 * attempt to open a source is noted in a file until the source has played for some seconds: the
 * notes that remain after a crash name the suspects. After two crashes, suspects are opened one at
 * a time. The source that is opened alone when media crashes again is put into quarantine.
 */
export interface CrashSuspects {
  /** Reads the notes that a crash has left. Must be called before the first attempt. */
  load(): void
  /**
   * Notes that a source is about to be opened. A suspect waits until it is the only one. Throws a
   * `SourceFault` if the source is in quarantine, and the signal's reason if the signal is aborted
   * while the source waits.
   */
  begin(identity: SourceIdentity, signal: AbortSignal): Promise<OpeningAttempt>
  /** Deletes all notes: after an orderly restart, every source is opened again. */
  clear(): void
}

/** An attempt to open a source. It succeeds when the source has played for some seconds. */
export interface OpeningAttempt {
  /** Must be called for each packet of the source. */
  onPacket(): void
  /** Must be called when the source has been closed. Has no effect after the attempt succeeded. */
  end(): void
}

/** A source that has played for this long has not crashed media by being opened. */
const OPENING_MS = 3_000
/** After this number of crashes in a row, a suspect is opened alone. */
const MIN_CRASHES = 2
/** How long a source is not opened after it has crashed media while it was opened alone. */
const QUARANTINE_MS = 3_600_000

const note = z.object({
  /** Number of consecutive crashes of media during which the source was being opened. */
  crashes: z.number(),
  /** How the source was being opened when the note was written; undefined if it was not. */
  opening: z.enum(['together', 'alone']).optional(),
  /** Wall clock time, in ms since 1970, until which the source is not opened. */
  quarantined_until: z.number().default(0),
})

type Note = z.infer<typeof note>

/**
 * `folder` must survive a crash of the process. The notes are in a folder of their own below it.
 */
export function createCrashSuspects(folder: string, clock: Clock, log: Log): CrashSuspects {
  const notesFolder = join(folder, 'opening')
  const notes = new Map<string, Note>()
  const turn = new Mutex()

  function write(name: string, changed: Note) {
    notes.set(name, changed)
    try {
      writeFileSync(join(notesFolder, name), JSON.stringify(changed))
    } catch (error) {
      // The source can be played nevertheless.
      log.warn({ err: error, note: name }, 'failed to note that a source is being opened')
    }
  }

  function remove(name: string) {
    notes.delete(name)
    rmSync(join(notesFolder, name), { force: true })
  }

  return {
    load() {
      mkdirSync(notesFolder, { recursive: true })
      for (const name of readdirSync(notesFolder)) {
        const left = readNote(join(notesFolder, name))
        if (left) write(name, countCrash(left, clock.wall()))
        else remove(name)
      }
      const suspects = [...notes.values()].filter(isSuspect).length
      if (suspects > 0) {
        log.warn(
          { suspects },
          'media crashed repeatedly: opening the suspected sources one at a time',
        )
      }
    },

    async begin(identity, signal) {
      const name = createNoteName(identity)
      const before = notes.get(name) ?? { crashes: 0, quarantined_until: 0 }
      if (before.quarantined_until > clock.wall()) throw createFault(identity, before)

      const release = isSuspect(before) ? await waitForTurn(turn, signal) : () => {}
      write(name, { ...before, opening: isSuspect(before) ? 'alone' : 'together' })
      return createAttempt(clock, () => {
        remove(name)
        release()
      })
    },

    clear: () => rmSync(notesFolder, { recursive: true, force: true }),
  }
}

/** `onEnd` is called once: when the attempt has succeeded, or when the source has been closed. */
function createAttempt(clock: Clock, onEnd: () => void): OpeningAttempt {
  /** Monotonic time of the first packet, in ms. */
  let playingSince: number | undefined
  let hasEnded = false

  function end() {
    if (hasEnded) return
    hasEnded = true
    onEnd()
  }

  return {
    onPacket() {
      if (hasEnded) return
      const now = clock.now()
      playingSince ??= now
      if (now - playingSince > OPENING_MS) end()
    },
    end,
  }
}

const isSuspect = ({ crashes }: Note) => crashes >= MIN_CRASHES

/**
 * Returns the note of the last process for this one: the last process has crashed if the source
 * was still being opened.
 */
function countCrash({ opening, ...left }: Note, now: number): Note {
  if (opening === undefined) return left
  const crashes = left.crashes + 1
  return opening === 'alone'
    ? { crashes, quarantined_until: now + QUARANTINE_MS }
    : { ...left, crashes }
}

/** Returns undefined if the file is incomplete, because the crash interrupted the write. */
function readNote(path: string): Note | undefined {
  try {
    return note.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}

/**
 * Names the note after the source and the settings that decide how it is opened: with other
 * settings, it is no suspect.
 */
function createNoteName({ id, type, address, decoder }: SourceIdentity): string {
  const settings = JSON.stringify([type, stripCredentials(address.url), decoder])
  return `${id}-${createHash('sha256').update(settings).digest('hex').slice(0, 16)}`
}

/** Resolves to the function that ends the turn. */
async function waitForTurn(turn: Mutex, signal: AbortSignal): Promise<() => void> {
  const acquired = turn.acquire()
  try {
    return await unlessAborted(acquired, signal)
  } catch (error) {
    void acquired.then(release => release())
    throw error
  }
}

function createFault(
  { address }: SourceIdentity,
  { crashes, quarantined_until: until }: Note,
): SourceFault {
  const reason =
    `opening it has crashed media ${crashes} times, so it is not opened until ${new Date(until).toISOString()}: ` +
    'update the firmware of the camera, or choose another stream or codec. A changed source is opened immediately'
  return new SourceFault(`${stripCredentials(address.url)}: ${reason}`, { transient: true })
}
