import type { RecordedFrame } from '@eyrie/contract/recording'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { request } from '../../api/api-request.ts'
import { createFrameIndex, type FrameIndex } from './frame-index.ts'
import { createFragmentReader } from './playback-fragment.ts'

export interface PlaybackLoaderOptions {
  video: HTMLVideoElement
  stream: number
  /** ms since 1970. */
  fromMs: number
  toMs: number
  playbackRate(): number
  /** A seek waits for its frame: loading must not pause, however much is buffered. */
  isSeeking(): boolean
  onFrames(): void
  onMetadata(frame: RecordedFrame): void
  onError(reason: string): void
}

/** Loads a recording from one moment on, not much further ahead than it is played. */
export interface PlaybackLoader {
  readonly frames: FrameIndex
  /** All frames up to the end are loaded. */
  readonly isComplete: boolean
  readonly hasSound: boolean
  /** Playback has advanced, so there may be room in the buffer. */
  resume(): void
  close(): void
}

/** How far ahead is loaded at normal speed, and how much is retained for stepping back. */
const AHEAD_S = 10
const RETENTION_S = 60
const RETENTION_WHEN_FULL_S = 3
const METADATA_AHEAD_S = 60

/** Attaches a new media source to the video element. */
export function openPlaybackLoader(options: PlaybackLoaderOptions): PlaybackLoader {
  const { video, stream, onFrames, onMetadata } = options
  const frames = createFrameIndex()
  const progress = { isComplete: false, hasSound: false }
  const closing = new AbortController()
  const { signal } = closing
  /** Wake the loops that wait for playback to advance. */
  const waiters = new Set<() => void>()

  const query = new URLSearchParams({
    from: new Date(options.fromMs).toISOString(),
    to: new Date(options.toMs).toISOString(),
  })

  const source = new MediaSource()
  const sourceOpen = new Promise<void>(resolve => {
    source.addEventListener('sourceopen', () => resolve(), { once: true })
  })
  const url = URL.createObjectURL(source)
  video.src = url

  async function loadVideo() {
    const response = await request(`/live/recordings/${stream}?${query}`, { signal })
    const type = response.headers.get('Content-Type') ?? ''
    if (!MediaSource.isTypeSupported(type))
      throw new Error(`this browser cannot play ${type}: download a clip and open it in another player`)
    await sourceOpen
    URL.revokeObjectURL(url)
    const buffer = source.addSourceBuffer(type)
    progress.hasSound = type.includes('mp4a')
    const readFragments = createFragmentReader()
    for await (const chunk of readChunks(response.body!)) {
      for (const fragment of readFragments(chunk)) {
        await waitUntil(
          () => options.isSeeking() || bufferedS() < AHEAD_S * Math.max(1, options.playbackRate()),
        )
        await append(buffer, fragment.bytes)
        frames.add(fragment)
        onFrames()
      }
    }
    progress.isComplete = true
    if (source.readyState === 'open') source.endOfStream()
    onFrames()
  }

  async function loadMetadata() {
    const response = await request(`/live/recordings/${stream}/metadata?${query}`, { signal })
    for await (const line of readLines(response.body!)) {
      const frame: RecordedFrame = JSON.parse(line)
      await waitUntil(() => frame.at - video.currentTime < METADATA_AHEAD_S)
      onMetadata(frame)
    }
  }

  /** Seconds between the playback position and the end of the buffer. */
  const bufferedS = () =>
    video.buffered.length === 0 ? 0 : video.buffered.end(video.buffered.length - 1) - video.currentTime

  async function waitUntil(condition: () => boolean) {
    while (!condition()) {
      await new Promise<void>(resolve => waiters.add(resolve))
      signal.throwIfAborted()
    }
  }

  async function append(buffer: SourceBuffer, bytes: Uint8Array<ArrayBuffer>) {
    await trim(buffer, RETENTION_S)
    for (;;) {
      try {
        return await update(buffer, () => buffer.appendBuffer(bytes))
      } catch (error) {
        if ((error as Error).name !== 'QuotaExceededError') throw error
        const position = video.currentTime
        if (!(await trim(buffer, RETENTION_WHEN_FULL_S)))
          await waitUntil(() => video.currentTime !== position)
      }
    }
  }

  /** Removes old frames. Returns false if there was nothing to remove. */
  async function trim(buffer: SourceBuffer, retentionS: number): Promise<boolean> {
    const end = video.currentTime - retentionS
    if (video.buffered.length === 0 || video.buffered.start(0) >= end - 1) return false
    await update(buffer, () => buffer.remove(0, end))
    if (video.buffered.length > 0) frames.removeBefore(video.buffered.start(0) * TICKS_PER_SECOND)
    return true
  }

  /** Changes the buffer and waits until the browser has finished the update. */
  function update(buffer: SourceBuffer, change: () => void): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onError = () => reject(new Error(`the browser rejected the video: ${video.error?.message ?? ''}`))
    buffer.addEventListener('updateend', () => resolve(), { once: true })
    buffer.addEventListener('error', onError, { once: true })
    change()
    return promise.finally(() => buffer.removeEventListener('error', onError))
  }

  const reportError = (error: Error) => {
    if (!signal.aborted) options.onError(error.message)
  }
  loadVideo().catch(reportError)
  loadMetadata().catch(reportError)

  function wakeWaiters() {
    const waiting = [...waiters]
    waiters.clear()
    for (const wake of waiting) wake()
  }

  return {
    frames,
    get isComplete() {
      return progress.isComplete
    },
    get hasSound() {
      return progress.hasSound
    },
    resume: wakeWaiters,
    close() {
      closing.abort()
      wakeWaiters()
    },
  }
}

async function* readLines(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = ''
  for await (const text of readChunks(body.pipeThrough(new TextDecoderStream()))) {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line) yield line
  }
}

/** Safari cannot iterate over a `ReadableStream`. */
async function* readChunks<Chunk>(body: ReadableStream<Chunk>): AsyncGenerator<Chunk> {
  const reader = body.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    await reader.cancel().catch(() => {})
  }
}
