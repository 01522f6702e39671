import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { GstError, Pipeline } from '../node-gst/index.ts'
import { aac, opus } from './sound-codecs.ts'
import { findSound, toCodecName } from './sound-elements.ts'
import { createOutlet, type SoundOutlet } from './sound-outlet.ts'
import type { LipSync, SoundListener } from './sound-tap.ts'
import type { OpusTrack, SoundTrack } from './sound-track.ts'

/** The sound of a source. It is decoded and encoded only while it has listeners. */
export interface Sound {
  /** The source's codec, such as `aac` or `pcm_alaw`; undefined until sound is detected. */
  codec(): string | undefined
  /** Resolves, soon after the first pictures, to whether the source has sound. */
  isPresent(): Promise<boolean>
  /** Adds a listener to the sound in AAC. Returns a function that removes it. */
  listenToAac(listener: SoundListener<SoundTrack>): () => void
  /** The same in Opus, with one or two channels at 48 kHz. */
  listenToOpus(listener: SoundListener<OpusTrack>): () => void
}

/** One connection to a source. */
export interface SoundSession {
  pipeline: Pipeline
  lipSync: LipSync | undefined
  /** Sound that is not read in time is dropped. */
  live: boolean
}

export interface SourceSound extends Sound {
  /** Switches to the sound of this session; undefined for a session that cannot have sound. */
  attach(session: SoundSession | undefined): void
  /** Must be called before the pipeline is disposed of. */
  detach(): void
  /** Must be called with the pts of every video packet: searches the pipeline for sound at intervals. */
  search(pts: number): void
  /** Must be called when an auxiliary element has failed, which may belong to the sound. */
  auxiliaryFailed(error: GstError): void
}

/**
 * How often a new pipeline is searched for sound, for how long, and how often afterwards. In ticks of stream time, since
 * sound arrives with its picture even on a slow machine.
 */
const SEARCH_TICKS = 9_000
const INITIAL_SEARCH_TICKS = 135_000
const LATER_SEARCH_TICKS = TICKS_PER_SECOND

/** The search for sound in a pipeline that has shown none so far. */
interface Search {
  session: SoundSession
  /** Stream time of the first packet. */
  startedAt: number | undefined
  nextAt: number
}

export function createSound(): SourceSound {
  const outlets = { aac: createOutlet(aac), opus: createOutlet(opus) }
  const allOutlets: SoundOutlet<never>[] = Object.values(outlets)
  const identified = Promise.withResolvers<void>()
  let codec: string | undefined
  let search: Search | undefined

  function identify(detected: string | undefined) {
    codec = detected
    identified.resolve()
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
      search = session && { session, startedAt: undefined, nextAt: Number.NEGATIVE_INFINITY }
      if (!session) identify(undefined)
    },
    detach() {
      identified.resolve()
      search = undefined
      for (const outlet of allOutlets) outlet.detach()
    },
    search(pts) {
      if (!search || pts < search.nextAt) return
      const { session } = search
      search.startedAt ??= pts
      const origin = findSound(session.pipeline)
      if (origin) {
        search = undefined
        identify(toCodecName(origin.caps))
        for (const outlet of allOutlets) outlet.attach({ ...session, ...origin })
        return
      }
      const isInitial = pts - search.startedAt < INITIAL_SEARCH_TICKS
      search.nextAt = pts + (isInitial ? SEARCH_TICKS : LATER_SEARCH_TICKS)
      if (!isInitial) identify(undefined)
    },
    auxiliaryFailed(error) {
      for (const outlet of allOutlets) outlet.handleFailure(error)
    },
  }
}
