import type { Drawing } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import { createElementRanking } from '../../gstreamer/element-ranking.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Source } from '../../sources/source.ts'
import type { Stream, StreamWriter } from '../../stream/live-stream.ts'
import { createOnDemandStream } from '../../stream/on-demand-stream.ts'
import type { Encoder, Encoders } from '../../transcode/encoders.ts'
import { type Annotator, createAnnotator } from './annotator.ts'
import { renderSvg } from './drawing-svg.ts'
import { createFrameBuffer, type Frame, type FrameBuffer } from './frame-buffer.ts'

export interface HostedOptions {
  name: string
  source: Source
  epoch: number
  clock: Clock
  log: Log
  encoders: Encoders
  /** Somebody watches, or nobody does any more. */
  onWatched(watched: boolean): void
  /** Why nobody can watch it; undefined: it can be watched again. */
  onFailure(reason: string | undefined): void
}

/** The analysed frames of a channel with their results drawn in, as a stream. It costs nothing while nobody watches. */
export interface Hosted {
  readonly name: string
  readonly source: Source
  readonly stream: Stream
  watched(): boolean
  /** Why nobody can watch it, as far as is known: it is tried again for the next who comes. */
  failure(): string | undefined
  draw(n: number, drawing: Drawing): void
  /** Resolves when the stream has begun. Rejects with the signal's reason. */
  begun(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Drawings that may wait for their frames; what the encoder cannot keep up with is left out. */
const MOST_WAITING = 8

export function createHosted(options: HostedOptions): Hosted {
  const { name, source, epoch, clock, log, encoders, onWatched, onFailure } = options
  const stream = createOnDemandStream({ epoch, clock, begin, end, onViewer: resume })
  const ranking = createElementRanking<Encoder>()
  const waiting = new Map<number, Drawing>()
  let writer: StreamWriter | undefined
  let frames: FrameBuffer | undefined
  let leaveSource: (() => Promise<void>) | undefined
  let pumping: Promise<void> | undefined
  let annotator: Annotator | undefined
  let failure: string | undefined
  /** Its viewers have been told of the failure, and nobody has come since. */
  let halted = false

  function begin(into: StreamWriter) {
    writer = into
    halted = false
    frames = createFrameBuffer(name, wake)
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

  function resume() {
    halted = false
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
      fail((error as Error).message)
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
    annotator ??= await annotate(frame)
    await annotator.show(frame, renderSvg(drawing, frame))
  }

  async function annotate(frame: Frame): Promise<Annotator> {
    const candidates = await encoders()
    const encoder = ranking.best(candidates)!
    return createAnnotator(frame, encoder, {
      track: track => writer?.begin(track),
      unit(unit) {
        tell(undefined)
        writer?.write(unit)
      },
      failed: reason => passOver(encoder, candidates, reason),
    })
  }

  /** The next frame is shown by the next best; viewers stay. */
  function passOver(encoder: Encoder, candidates: readonly Encoder[], reason: string) {
    log.warn(`the annotated stream ${name}: the encoder ${encoder.name} has failed: ${reason}`)
    if (ranking.markFailed(encoder, candidates)) writer?.interrupt()
    else fail(reason)
  }

  /** Viewers are told, and may come again. */
  function fail(reason: string) {
    if (halted) return
    halted = true
    waiting.clear()
    log.warn(`the annotated stream ${name} cannot be made: ${reason}`)
    tell(`the stream ${name} cannot be made: ${reason}`)
    writer?.end(`the annotated picture cannot be made: ${reason}`)
  }

  function tell(reason: string | undefined) {
    if (reason === failure) return
    failure = reason
    onFailure(reason)
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
    failure: () => failure,
    draw(n, drawing) {
      if (!frames || halted) return
      waiting.set(n, drawing)
      for (const oldest of waiting.keys()) if (waiting.size > MOST_WAITING) waiting.delete(oldest)
      wake()
    },
    begun: stream.begun,
    async close() {
      await stream.close('the stream is no longer made')
      tell(undefined)
    },
  }
}
