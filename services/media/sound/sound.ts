import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { GstError, Pipeline } from '../node-gst/index.ts'
import { aac, opus } from './coding.ts'
import { findSound, soundName } from './elements.ts'
import type { LipSync } from './lip-sync.ts'
import { createOutlet, type Outlet } from './outlet.ts'
import type { SoundListener } from './tap.ts'
import type { OpusTrack, SoundTrack } from './track.ts'

/** The sound of a source. It costs nothing while nobody listens. */
export interface Sound {
  /** What the source sends, `aac` or `pcma` for instance; undefined where it sends none, as far as is known. */
  codec(): string | undefined
  /** Resolves when it can be told whether there is any: soon after the first pictures. */
  known(): Promise<boolean>
  /** In AAC. Returns how to stop listening. */
  listen(listener: SoundListener<SoundTrack>): () => void
  /** In Opus, one or two channels at 48 kHz. */
  listenToOpus(listener: SoundListener<OpusTrack>): () => void
}

/** One connection to a source. */
export interface SoundingSession {
  pipeline: Pipeline
  lipSync: LipSync | undefined
  /** It comes whether there is time for it or not. */
  live: boolean
}

export interface SourceSound extends Sound {
  /** From now on sound comes from this pipeline, if it has any; from none where it cannot have any. */
  attach(session: SoundingSession | undefined): void
  /** To be called before the pipeline is taken down. */
  detach(): void
  /** To be called with the time of every packet of the picture: looks, now and then, whether sound has come. */
  look(pts: number): void
  /** An element beside the way of packets has failed, maybe one of these. */
  failedBeside(error: GstError): void
}

/**
 * How often is looked for sound at the beginning of a pipeline, and how long; then how often. In stream time, by which sound
 * comes with its picture, on a slow machine as well.
 */
const LOOK_TICKS = 9_000
const BEGINNING_TICKS = 135_000
const LATER_TICKS = TICKS_PER_SECOND

export function createSound(): SourceSound {
  const outlets = { aac: createOutlet(aac), opus: createOutlet(opus) }
  const all: Outlet<never>[] = Object.values(outlets)
  let session: SoundingSession | undefined
  let begunAt: number | undefined
  let lookAt = Number.NEGATIVE_INFINITY
  let codec: string | undefined
  let isKnown = false
  const waiting: (() => void)[] = []

  function tell(found: string | undefined) {
    codec = found
    isKnown = true
    for (const resolve of waiting.splice(0)) resolve()
  }

  return {
    codec: () => codec,
    async known() {
      if (!isKnown) await new Promise<void>(resolve => waiting.push(resolve))
      return codec !== undefined
    },
    listen: outlets.aac.listen,
    listenToOpus: outlets.opus.listen,
    attach(next) {
      session = next
      begunAt = undefined
      lookAt = Number.NEGATIVE_INFINITY
      if (!next) tell(undefined)
    },
    detach() {
      if (!isKnown) tell(undefined)
      session = undefined
      for (const outlet of all) outlet.detach()
    },
    look(pts) {
      if (!session || pts < lookAt) return
      begunAt ??= pts
      const found = findSound(session.pipeline)
      if (found) {
        lookAt = Number.POSITIVE_INFINITY
        tell(soundName(found.caps))
        for (const outlet of all) outlet.attach({ ...session, ...found })
        return
      }
      const isBeginning = pts - begunAt < BEGINNING_TICKS
      lookAt = pts + (isBeginning ? LOOK_TICKS : LATER_TICKS)
      if (!isBeginning) tell(undefined)
    },
    failedBeside(error) {
      for (const outlet of all) outlet.failed(error)
    },
  }
}
