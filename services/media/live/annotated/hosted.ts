import type { Drawing } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import type { Clock } from '../../clock.ts'
import type { Source } from '../../ingest/source.ts'
import { createOnDemand } from '../on-demand.ts'
import type { Stream, StreamWriter } from '../stream.ts'
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

/** Drawings that may wait for their frames; what the encoder cannot keep up with is left out. */
const MOST_WAITING = 8

export function createHosted({ name, source, epoch, clock, log, onWatched }: HostedOptions): Hosted {
  const stream = createOnDemand({ epoch, clock, begin, end })
  const waiting = new Map<number, Drawing>()
  let writer: StreamWriter | undefined
  let frames: Frames | undefined
  let leaveSource: (() => Promise<void>) | undefined
  let pumping: Promise<void> | undefined
  let annotator: Annotator | undefined

  function begin(into: StreamWriter) {
    writer = into
    frames = createFrames(name, wake)
    leaveSource = source.readFrames(frames)
    onWatched(true)
  }

  async function end() {
    frames = undefined
    waiting.clear()
    onWatched(false)
    await leaveSource?.()
    await pumping
    await dismiss()
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
      track: track => writer?.begin(track),
      unit: unit => writer?.write(unit),
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

  return {
    name,
    source,
    stream,
    watched: stream.watched,
    draw(n, drawing) {
      if (!frames) return
      waiting.set(n, drawing)
      for (const oldest of waiting.keys()) if (waiting.size > MOST_WAITING) waiting.delete(oldest)
      wake()
    },
    begun: stream.begun,
    close: () => stream.close('the stream is no longer made'),
  }
}
