import type { RecordedFrame } from '@eyrie/contract/recording'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { ask } from '../../api/api-request.ts'
import { createPlaybackTimes, type PlaybackTimes } from './frame-index.ts'
import { createFragmentReader } from './playback-fragment.ts'
import { chunksOf, linesOf } from './stream-reading.ts'

export interface PlaybackRunOptions {
  video: HTMLVideoElement
  stream: number
  /** ms since 1970. */
  fromMs: number
  toMs: number
  /** How many times as fast as it happened it is played. */
  rate(): number
  /** What has to be shown has not come yet, however much there is. */
  isWaiting(): boolean
  onPictures(): void
  onMetadata(frame: RecordedFrame): void
  onFailed(reason: string): void
}

/** A recording from one moment on, loaded as far ahead as it is played. Takes over the video element. */
export interface PlaybackRun {
  readonly times: PlaybackTimes
  /** All of it has come. */
  readonly complete: boolean
  readonly hasSound: boolean
  /** Playback has moved on: there may be room for more. */
  proceed(): void
  close(): void
}

/** So much is loaded ahead at normal speed, and so much of the past is kept for stepping back, in seconds. */
const AHEAD_S = 10
const KEPT_S = 60
const KEPT_WHEN_FULL_S = 3
/** What was found is light; it comes in its own time. */
const METADATA_AHEAD_S = 60

export function openRun(options: PlaybackRunOptions): PlaybackRun {
  const { video, stream, onPictures, onMetadata } = options
  const times = createPlaybackTimes()
  const source = new MediaSource()
  const leaving = new AbortController()
  const { signal } = leaving
  const waiting = new Set<() => void>()
  let complete = false
  let hasSound = false

  const query = new URLSearchParams(
    Object.entries({ from: options.fromMs, to: options.toMs }).map(([name, timeMs]) => [
      name,
      new Date(timeMs).toISOString(),
    ]),
  )

  const opened = new Promise<void>(resolve => {
    source.addEventListener('sourceopen', () => resolve(), { once: true })
  })
  const url = URL.createObjectURL(source)
  video.src = url

  async function loadPictures() {
    const answer = await ask(`/live/recordings/${stream}?${query}`, signal)
    const type = answer.headers.get('Content-Type') ?? ''
    if (!MediaSource.isTypeSupported(type))
      throw new Error(`this browser cannot play ${type}: download a clip, and play it with another player`)
    await opened
    URL.revokeObjectURL(url)
    const buffer = source.addSourceBuffer(type)
    hasSound = type.includes('mp4a')
    const read = createFragmentReader()
    for await (const chunk of chunksOf(answer.body!)) {
      for (const fragment of read(chunk)) {
        await until(() => options.isWaiting() || aheadS() < AHEAD_S * Math.max(1, options.rate()))
        await append(buffer, fragment.bytes)
        times.add(fragment)
        onPictures()
      }
    }
    complete = true
    if (source.readyState === 'open') source.endOfStream()
    onPictures()
  }

  async function loadMetadata() {
    const answer = await ask(`/live/recordings/${stream}/metadata?${query}`, signal)
    for await (const line of linesOf(answer.body!)) {
      const frame: RecordedFrame = JSON.parse(line)
      await until(() => frame.at - video.currentTime < METADATA_AHEAD_S)
      onMetadata(frame)
    }
  }

  const aheadS = () =>
    video.buffered.length === 0 ? 0 : video.buffered.end(video.buffered.length - 1) - video.currentTime

  async function until(holds: () => boolean) {
    while (!holds()) {
      await new Promise<void>(resolve => waiting.add(resolve))
      signal.throwIfAborted()
    }
  }

  async function append(buffer: SourceBuffer, bytes: Uint8Array<ArrayBuffer>) {
    await trim(buffer, KEPT_S)
    for (;;) {
      try {
        return await updated(buffer, () => buffer.appendBuffer(bytes))
      } catch (error) {
        if ((error as Error).name !== 'QuotaExceededError') throw error
        const before = video.currentTime
        if (!(await trim(buffer, KEPT_WHEN_FULL_S))) await until(() => video.currentTime !== before)
      }
    }
  }

  /** Whether there was anything to let go. */
  async function trim(buffer: SourceBuffer, keptS: number): Promise<boolean> {
    const upTo = video.currentTime - keptS
    if (video.buffered.length === 0 || video.buffered.start(0) >= upTo - 1) return false
    await updated(buffer, () => buffer.remove(0, upTo))
    if (video.buffered.length > 0) times.forget(video.buffered.start(0) * TICKS_PER_SECOND)
    return true
  }

  function updated(buffer: SourceBuffer, change: () => void): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const refused = () => reject(new Error(`the browser refused the video: ${video.error?.message ?? ''}`))
    buffer.addEventListener('updateend', () => resolve(), { once: true })
    buffer.addEventListener('error', refused, { once: true })
    change()
    return promise.finally(() => buffer.removeEventListener('error', refused))
  }

  const tell = (error: Error) => {
    if (!signal.aborted) options.onFailed(error.message)
  }
  loadPictures().catch(tell)
  loadMetadata().catch(tell)

  return {
    times,
    get complete() {
      return complete
    },
    get hasSound() {
      return hasSound
    },
    proceed() {
      const all = [...waiting]
      waiting.clear()
      for (const wake of all) wake()
    },
    close() {
      leaving.abort()
      for (const wake of waiting) wake()
    },
  }
}
