import type { RecordedFrame } from '@eyrie/contract/recording'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { request } from '../../api/api-request.ts'
import { attachMediaSource } from '../../video/media-source.ts'
import { createFrameIndex, type FrameIndex } from './frame-index.ts'
import { createFragmentReader } from './playback-fragment.ts'

/** What a loader loads, and how it communicates with the player. */
export interface PlaybackLoaderOptions {
  video: HTMLVideoElement
  stream: number
  /** The range to load, in ms since 1970. */
  fromMs: number
  toMs: number
  playbackRate(): number
  /** A seek is waiting for its frame, so loading must not pause. */
  isSeeking(): boolean
  /** More frames are loaded, or the recording is complete. */
  onFrames(): void
  onMetadata(frame: RecordedFrame): void
  onError(reason: string): void
}

/** Loads a range of a recording into a media source, a few seconds ahead of playback. */
export interface PlaybackLoader {
  readonly frames: FrameIndex
  /** All frames of the range are loaded. */
  readonly isComplete: boolean
  readonly hasSound: boolean
  /** Must be called when playback has advanced, so that more can be loaded. */
  resume(): void
  /** Ends the requests. Loaded frames can still be shown. */
  close(): void
  readonly isClosed: boolean
}

/** How far ahead of playback video is loaded, at normal speed. */
const AHEAD_S = 10
/** How much played video is retained for stepping back. */
const RETENTION_S = 60
/** How much of it is retained if the buffer of the browser is full. */
const RETENTION_WHEN_FULL_S = 3
/** How far ahead of playback metadata is loaded. It is much smaller than video. */
const METADATA_AHEAD_S = 60

/** Attaches a new media source to the video element. */
export function openPlaybackLoader(options: PlaybackLoaderOptions): PlaybackLoader {
  const { video, stream, onFrames, onMetadata } = options
  const frames = createFrameIndex()
  const progress = { isComplete: false, hasSound: false }
  const closing = new AbortController()
  const { signal } = closing
  const gate = createGate(signal)

  const query = new URLSearchParams({
    from: new Date(options.fromMs).toISOString(),
    to: new Date(options.toMs).toISOString(),
  })

  const source = attachMediaSource(video)
  const sourceOpen = once(source, 'sourceopen')

  /** Reads the video from the media service, and waits whenever enough is loaded. */
  async function loadVideo() {
    const response = await request(`/live/recordings/${stream}?${query}`, { signal })
    const type = response.headers.get('Content-Type') ?? ''
    if (!MediaSource.isTypeSupported(type)) {
      throw new Error(
        `this browser cannot play ${type}: download a clip and open it in another player`,
      )
    }

    await sourceOpen
    const buffer = source.addSourceBuffer(type)
    progress.hasSound = type.includes('mp4a')

    const readFragments = createFragmentReader()
    for await (const chunk of readChunks(response.body!)) {
      for (const fragment of readFragments(chunk)) {
        await gate.waitUntil(needsVideo)
        await append(buffer, fragment.bytes)
        frames.add(fragment)
        onFrames()
      }
    }

    progress.isComplete = true
    if (source.readyState === 'open') source.endOfStream()
    onFrames()
  }

  /** Reads the analysis results, one frame per line. */
  async function loadMetadata() {
    const response = await request(`/live/recordings/${stream}/metadata?${query}`, { signal })
    for await (const line of readLines(response.body!)) {
      const frame: RecordedFrame = JSON.parse(line)
      await gate.waitUntil(() => frame.at - video.currentTime < METADATA_AHEAD_S)
      onMetadata(frame)
    }
  }

  /** Whether less video is loaded ahead of playback than should be. */
  function needsVideo(): boolean {
    const { buffered } = video
    if (options.isSeeking() || buffered.length === 0) return true
    const bufferedS = buffered.end(buffered.length - 1) - video.currentTime
    return bufferedS < AHEAD_S * Math.max(1, options.playbackRate())
  }

  /** Appends a fragment. If the buffer is full, frees space or waits for playback to advance. */
  async function append(buffer: SourceBuffer, bytes: Uint8Array<ArrayBuffer>) {
    await trim(buffer, RETENTION_S)
    for (;;) {
      try {
        return await update(buffer, () => buffer.appendBuffer(bytes))
      } catch (error) {
        if ((error as Error).name !== 'QuotaExceededError') throw error
        const position = video.currentTime
        const hasFreedSpace = await trim(buffer, RETENTION_WHEN_FULL_S)
        if (!hasFreedSpace) await gate.waitUntil(() => video.currentTime !== position)
      }
    }
  }

  /** Removes frames that were played more than `retentionS` ago. Returns whether there were any. */
  async function trim(buffer: SourceBuffer, retentionS: number): Promise<boolean> {
    const end = video.currentTime - retentionS
    if (video.buffered.length === 0 || video.buffered.start(0) >= end - 1) return false
    await update(buffer, () => buffer.remove(0, end))
    if (video.buffered.length > 0) frames.removeBefore(video.buffered.start(0) * TICKS_PER_SECOND)
    return true
  }

  /** Changes the buffer. Resolves when the browser has finished the update. */
  function update(buffer: SourceBuffer, change: () => void): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onError = () =>
      reject(new Error(`the browser rejected the video: ${video.error?.message ?? ''}`))

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

  return {
    frames,
    get isComplete() {
      return progress.isComplete
    },
    get hasSound() {
      return progress.hasSound
    },
    get isClosed() {
      return signal.aborted
    },
    resume: gate.checkAgain,
    close() {
      closing.abort()
      gate.checkAgain()
    },
  }
}

/** Makes the loops of the loader wait for playback to advance. */
function createGate(signal: AbortSignal) {
  const waiters = new Set<() => void>()
  return {
    /**
     * Resolves when the condition is true. It is checked now and at each `checkAgain`. Throws once
     * the signal is aborted.
     */
    async waitUntil(condition: () => boolean) {
      while (!condition()) {
        await new Promise<void>(resolve => waiters.add(resolve))
        signal.throwIfAborted()
      }
    },
    checkAgain() {
      const waiting = [...waiters]
      waiters.clear()
      for (const wake of waiting) wake()
    },
  }
}

/** Resolves at the next event of this type. */
const once = (target: EventTarget, type: string) =>
  new Promise<void>(resolve => {
    target.addEventListener(type, () => resolve(), { once: true })
  })

/** Yields the lines of a text, without empty ones. */
async function* readLines(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let incompleteLine = ''
  for await (const text of readChunks(body.pipeThrough(new TextDecoderStream()))) {
    const lines = (incompleteLine + text).split('\n')
    incompleteLine = lines.pop()!
    yield* lines.filter(line => line !== '')
  }
}

/** Yields the chunks of a stream, because Safari cannot iterate over a `ReadableStream`. */
async function* readChunks<Chunk>(body: ReadableStream<Chunk>): AsyncGenerator<Chunk> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value: chunk } = await reader.read()
      if (done) return
      yield chunk
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
