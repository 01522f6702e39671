import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { GstError, Pipeline } from '../node-gst/index.ts'
import { aac, opus } from './sound-codecs.ts'
import { findSound, toCodecName } from './sound-elements.ts'
import { createOutlet, type SoundOutlet } from './sound-outlet.ts'
import type { LipSync, SoundListener, SoundOrigin } from './sound-tap.ts'
import type { OpusTrack, SoundTrack } from './sound-track.ts'

/**
 * The sound of a source (a camera or file) for its listeners. It is decoded and encoded only
 * while there are any.
 */
export interface Sound {
  /**
   * Returns the codec of the source, such as `aac` or `pcm_alaw`; undefined until sound is
   * detected.
   */
  codec(): string | undefined
  /** Resolves soon after the first pictures. Returns whether the source has sound. */
  isPresent(): Promise<boolean>
  /** Adds a listener for sound in AAC. Returns a function that removes it. */
  listenToAac(listener: SoundListener<SoundTrack>): () => void
  /**
   * Adds a listener for sound in Opus, with one or two channels at 48 kHz. Returns a
   * function that removes it.
   */
  listenToOpus(listener: SoundListener<OpusTrack>): () => void
}

/** One connection to a source, with its own pipeline. */
export interface SoundSession {
  pipeline: Pipeline
  lipSync: LipSync | undefined
  /** A live source drops sound that is not read in time. */
  isLive: boolean
}

/** The sound of a source, from the perspective of the source itself. */
export interface SourceSound extends Sound {
  /** Switches to the sound of a new session. `undefined` is a session that cannot have sound. */
  attach(session: SoundSession | undefined): void
  /** Must be called before the pipeline is disposed of. */
  detach(): void
  /**
   * Must be called with the pts of every video packet. Searches the pipeline for sound at
   * intervals.
   */
  searchIfDue(pts: number): void
  /** Must be called when any auxiliary element has failed. */
  onAuxiliaryFailure(error: GstError): void
}

// A new pipeline is searched for sound ten times a second at first, and once a second later. The
// intervals are in stream time and not in wall-clock time, because even on a slow machine sound
// arrives together with its pictures.
const INITIAL_PHASE_TICKS = 1.5 * TICKS_PER_SECOND
const INITIAL_INTERVAL_TICKS = 0.1 * TICKS_PER_SECOND
const LATER_INTERVAL_TICKS = TICKS_PER_SECOND

/** The search for sound in a pipeline in which none has been found yet. */
interface Search {
  session: SoundSession
  /** Stream time of the first packet of the session; undefined before it. */
  startPts: number | undefined
  /** Stream time at which the pipeline is searched again. */
  nextPts: number
}

/** Creates the sound of a source that is not connected yet. */
export function createSound(): SourceSound {
  const outlets = { aac: createOutlet(aac), opus: createOutlet(opus) }
  const allOutlets: SoundOutlet<never>[] = Object.values(outlets)
  /** Resolved once it is known whether the source has sound. */
  const identified = Promise.withResolvers<void>()
  let codec: string | undefined
  let search: Search | undefined

  function identify(detected: string | undefined) {
    codec = detected
    identified.resolve()
  }

  /** Ends the search, and provides the sound to the listeners. */
  function attachOutlets(origin: SoundOrigin) {
    search = undefined
    identify(toCodecName(origin.caps))
    for (const outlet of allOutlets) outlet.attach(origin)
  }

  /** Continues the search after a packet at which no sound was found. */
  function scheduleSearch(current: Search, pts: number) {
    current.startPts ??= pts
    const isInitial = pts - current.startPts < INITIAL_PHASE_TICKS
    current.nextPts = pts + (isInitial ? INITIAL_INTERVAL_TICKS : LATER_INTERVAL_TICKS)
    // The source counts as silent after the initial phase, even though sound may
    // still be found later.
    if (!isInitial) identify(undefined)
  }

  return {
    codec: () => codec,
    async isPresent() {
      await identified.promise
      return codec !== undefined
    },
    listenToAac: outlets.aac.listen,
    listenToOpus: outlets.opus.listen,
    attach(session) {
      search = session && { session, startPts: undefined, nextPts: Number.NEGATIVE_INFINITY }
      if (!session) identify(undefined)
    },
    detach() {
      identified.resolve()
      search = undefined
      for (const outlet of allOutlets) outlet.detach()
    },
    searchIfDue(pts) {
      if (!search || pts < search.nextPts) return
      const origin = findSound(search.session.pipeline)
      if (origin) attachOutlets({ ...search.session, ...origin })
      else scheduleSearch(search, pts)
    },
    onAuxiliaryFailure(error) {
      for (const outlet of allOutlets) outlet.handleFailure(error)
    },
  }
}
