import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { SplicedFragment } from './fragment-splicer.ts'
import type { FrameIndex } from './frame-index.ts'
import type { Gate } from './playback-gate.ts'

export interface PlaybackBufferOptions {
  video: HTMLVideoElement
  source: MediaSource
  /** MIME type with the codecs, which the browser must support. */
  type: string
  /** Lists the frames in the buffer. */
  frames: FrameIndex
  /** Opened when playback has advanced. */
  gate: Gate
  signal: AbortSignal
}

/** The part of a recording that is loaded for playback. */
export interface PlaybackBuffer {
  /** Appends the initialization segment. */
  start(init: Uint8Array<ArrayBuffer>): Promise<void>
  /** Whether fragments with this type and initialization segment can be appended. */
  canContinue(type: string, init: Uint8Array<ArrayBuffer>): boolean
  /** Appends a fragment. If the buffer is full, frees space or waits for playback to advance. */
  append(fragment: SplicedFragment): Promise<void>
}

/** How much played video is retained for stepping back. */
const RETENTION_S = 60
/** How much of it is retained if the buffer of the browser is full. */
const RETENTION_WHEN_FULL_S = 3

/** The media source must be open. */
export function createPlaybackBuffer(options: PlaybackBufferOptions): PlaybackBuffer {
  const { video, source, type, frames, gate, signal } = options
  const buffer = source.addSourceBuffer(type)
  let ownInit = new Uint8Array()

  /** Removes frames that were played more than `retentionS` ago. Returns whether there were any. */
  async function trim(retentionS: number): Promise<boolean> {
    const end = video.currentTime - retentionS
    if (video.buffered.length === 0 || video.buffered.start(0) >= end - 1) return false
    await update(() => buffer.remove(0, end))
    if (video.buffered.length > 0) frames.removeBefore(video.buffered.start(0) * TICKS_PER_SECOND)
    return true
  }

  /** Changes the buffer. Resolves when the browser has finished the update. */
  function update(change: () => void): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onError = () =>
      reject(new Error(`the browser rejected the video: ${video.error?.message ?? ''}`))

    buffer.addEventListener('updateend', () => resolve(), { once: true })
    buffer.addEventListener('error', onError, { once: true })
    change()
    return promise.finally(() => buffer.removeEventListener('error', onError))
  }

  return {
    start(init) {
      ownInit = init
      return update(() => buffer.appendBuffer(init))
    },
    canContinue: (otherType, init) => otherType === type && areEqual(init, ownInit),

    async append(fragment) {
      await trim(RETENTION_S)
      buffer.timestampOffset = fragment.offsetS
      for (;;) {
        try {
          await update(() => buffer.appendBuffer(fragment.bytes))
          return frames.add(fragment)
        } catch (error) {
          if ((error as Error).name !== 'QuotaExceededError') throw error
          const position = video.currentTime
          const hasFreedSpace = await trim(RETENTION_WHEN_FULL_S)
          if (!hasFreedSpace) await gate.waitUntil(() => video.currentTime !== position)
        }
      }
    },
  }
}

const areEqual = (a: Uint8Array, b: Uint8Array) =>
  a.length === b.length && a.every((byte, index) => byte === b[index])
