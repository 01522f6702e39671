import type { Clock } from '../clock.ts'
import { BESIDE } from '../decode/beside.ts'
import type { GstError, Pipeline } from '../node-gst/index.ts'
import { findSound } from './elements.ts'
import { openTap, type SoundListener, type Tap } from './tap.ts'
import type { SoundTrack } from './track.ts'

/** The sound of a source. It costs nothing while nobody listens. */
export interface Sound {
  /** Returns how to stop listening. */
  listen(listener: SoundListener): () => void
}

export interface SourceSound extends Sound {
  /** From now on sound comes from this pipeline, if it has any. */
  attach(pipeline: Pipeline): void
  /** To be called before the pipeline is taken down. */
  detach(): void
  /** An element beside the way of packets has failed, maybe one of these. */
  failedBeside(error: GstError): void
}

/** How often is looked whether sound has come, while somebody wants to hear it. */
const LOOK_MS = 100

export function createSound(clock: Clock): SourceSound {
  const listeners = new Set<SoundListener>()
  let pipeline: Pipeline | undefined
  let tap: Tap | undefined
  let track: SoundTrack | undefined
  let looking = new AbortController()

  const everybody: SoundListener = {
    begin(next) {
      track = next
      for (const listener of listeners) listener.begin(next)
    },
    unit(unit) {
      for (const listener of listeners) listener.unit(unit)
    },
  }

  async function look(signal: AbortSignal) {
    while (pipeline && listeners.size > 0 && !tap) {
      const found = findSound(pipeline)
      if (found) {
        tap = openTap(pipeline, found, everybody)
        return
      }
      await clock.sleep(LOOK_MS, signal)
    }
  }

  function begin() {
    looking.abort()
    looking = new AbortController()
    look(looking.signal).catch(() => {})
  }

  function silence() {
    looking.abort()
    void tap?.remove()
    tap = undefined
    track = undefined
  }

  return {
    listen(listener) {
      listeners.add(listener)
      if (track) listener.begin(track)
      else begin()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) silence()
      }
    },
    attach(next) {
      pipeline = next
      if (listeners.size > 0) begin()
    },
    detach() {
      looking.abort()
      pipeline = undefined
      tap?.part()
      tap = undefined
    },
    failedBeside({ source }) {
      if (source?.startsWith(`${BESIDE}sound`)) silence()
    },
  }
}
