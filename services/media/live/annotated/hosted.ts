import type { Drawing } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import type { Clock } from '../../clock.ts'
import type { Source } from '../../ingest/source.ts'
import { createStream, type Stream } from '../stream.ts'
import { type Annotator, createAnnotator } from './annotator.ts'
import { svgOf } from './drawing.ts'
import { createFrames, type Frame, type Frames } from './frames.ts'

export interface HostedOptions {
  name: string
  source: Source
  epoch: number
  clock: Clock
  log: Log
  /** Somebody watches, or nobody does any more. */
  onWatched(watched: boolean): void
}

/** The analysed frames of a channel with their results drawn in, as a stream. It costs nothing while nobody watches. */
export interface Hosted {
  readonly name: string
  readonly source: Source
  readonly stream: Stream
  watched(): boolean
  draw(n: number, drawing: Drawing): void
  /** Resolves when the stream has begun. Rejects with the signal's reason. */
  begun(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** So long the stream goes on for those who come back, such as one who polls for pictures. */
const LINGER_MS = 3_000
/** Drawings that may wait for their frames; what the encoder cannot keep up with is left out. */
const MOST_WAITING = 8

export function createHosted({ name, source, epoch, clock, log, onWatched }: HostedOptions): Hosted {
  const plain = createStream(epoch)
  const waiting = new Map<number, Drawing>()
  let frames: Frames | undefined
  let leaveSource: (() => Promise<void>) | undefined
  let lingering = new AbortController()
  let pumping: Promise<void> | undefined
  let annotator: Annotator | undefined
  let watchers = 0

  function begin() {
    lingering.abort()
    if (frames) return
    frames = createFrames(name, wake)
    leaveSource = source.readFrames(frames)
    onWatched(true)
  }

  function endLater() {
    lingering = new AbortController()
    clock.sleep(LINGER_MS, lingering.signal).then(end, () => {})
  }

  async function end() {
    if (!frames) return
    frames = undefined
    waiting.clear()
    onWatched(false)
    await leaveSource?.()
    await pumping
    await dismiss()
    plain.interrupt()
  }

  function wake() {
    pumping ??= pump().finally(() => {
      pumping = undefined
    })
  }

  /** Brings drawings and frames together, one after the other. */
  async function pump() {
    try {
      for (let next = nextMatch(); next; next = nextMatch()) await show(next.frame, next.drawing)
    } catch (error) {
      log.warn({ stream: name, reason: (error as Error).message }, 'an annotated stream cannot be made')
      waiting.clear()
    }
  }

  function nextMatch(): { frame: Frame; drawing: Drawing } | undefined {
    for (const [n, drawing] of waiting) {
      if (!frames || n > frames.newest()) return undefined
      waiting.delete(n)
      const frame = frames.take(n)
      if (frame) return { frame, drawing }
    }
    return undefined
  }

  async function show(frame: Frame, drawing: Drawing) {
    if (annotator && !annotator.fits(frame)) await dismiss()
    annotator ??= await createAnnotator(frame, {
      track: track => plain.begin(track),
      unit: plain.write,
      failed: reason => {
        log.warn({ stream: name, reason }, 'an annotated stream is begun again')
        void dismiss()
      },
    })
    await annotator.show(frame, svgOf(drawing, frame))
  }

  async function dismiss() {
    const gone = annotator
    annotator = undefined
    await gone?.close()
  }

  const stream: Stream = {
    ...plain,
    watch(viewer) {
      watchers++
      begin()
      const leave = plain.watch(viewer)
      let here = true
      return () => {
        leave()
        if (!here) return
        here = false
        if (--watchers === 0) endLater()
      }
    },
  }

  return {
    name,
    source,
    stream,
    watched: () => frames !== undefined,
    draw(n, drawing) {
      if (!frames) return
      waiting.set(n, drawing)
      for (const oldest of waiting.keys()) if (waiting.size > MOST_WAITING) waiting.delete(oldest)
      wake()
    },
    begun: signal =>
      new Promise((resolve, reject) => {
        let leave = () => {}
        const settle = (how: () => void) => {
          how()
          queueMicrotask(() => leave())
        }
        signal.addEventListener('abort', () => settle(() => reject(signal.reason)), { once: true })
        const done = () => settle(resolve)
        leave = stream.watch({ begin: () => {}, fragment: done, backlog: () => 0, end: done })
      }),
    async close() {
      lingering.abort()
      plain.end('the stream is no longer made')
      await end()
    },
  }
}
