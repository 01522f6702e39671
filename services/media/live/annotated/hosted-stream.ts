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

/** The stream while it has viewers. */
interface Production {
  writer: StreamWriter
  frames: FrameBuffer
  /** Viewers were notified of a failure, and none has joined since. */
  isHalted: boolean
  leaveSource(): Promise<void>
}

/** Drawings that may wait for their frames; what the encoder cannot keep up with is left out. */
const MOST_WAITING = 8

export function createHosted(options: HostedOptions): Hosted {
  const { name, source, epoch, clock, log, encoders, onWatched, onFailure } = options
  const stream = createOnDemandStream({ epoch, clock, begin, end, onViewer: resume })
  const ranking = createElementRanking<Encoder>()
  const waiting = new Map<number, Drawing>()
  let production: Production | undefined
  let pumping: Promise<void> | undefined
  let annotator: Annotator | undefined
  let failure: string | undefined

  function begin(writer: StreamWriter) {
    const frames = createFrameBuffer(name, wake)
    production = { writer, frames, isHalted: false, leaveSource: source.readFrames(frames) }
    onWatched(true)
  }

  async function end() {
    const ended = production
    production = undefined
    waiting.clear()
    onWatched(false)
    await ended?.leaveSource()
    await pumping
    await closeAnnotator()
  }

  function resume() {
    if (production) production.isHalted = false
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
      if (!production || n > production.frames.newest()) return undefined
      waiting.delete(n)
      const frame = production.frames.take(n)
      if (frame) return { frame, drawing }
    }
    return undefined
  }

  async function show(frame: Frame, drawing: Drawing) {
    if (annotator && !annotator.fits(frame)) await closeAnnotator()
    annotator ??= await annotate(frame)
    await annotator.show(frame, renderSvg(drawing, frame))
  }

  async function annotate(frame: Frame): Promise<Annotator> {
    const candidates = await encoders()
    const encoder = ranking.best(candidates)!
    return createAnnotator(frame, encoder, {
      track: track => production?.writer.begin(track),
      unit(unit) {
        tell(undefined)
        production?.writer.write(unit)
      },
      failed: reason => passOver(encoder, candidates, reason),
    })
  }

  /** The next frame is shown by the next best; viewers stay. */
  function passOver(encoder: Encoder, candidates: readonly Encoder[], reason: string) {
    log.warn(`the annotated stream ${name}: the encoder ${encoder.name} has failed: ${reason}`)
    if (ranking.markFailed(encoder, candidates)) production?.writer.interrupt()
    else fail(reason)
  }

  /** Viewers are told, and may come again. */
  function fail(reason: string) {
    if (production?.isHalted) return
    if (production) production.isHalted = true
    waiting.clear()
    log.warn(`the annotated stream ${name} cannot be made: ${reason}`)
    tell(`the stream ${name} cannot be made: ${reason}`)
    production?.writer.end(`the annotated picture cannot be made: ${reason}`)
  }

  function tell(reason: string | undefined) {
    if (reason === failure) return
    failure = reason
    onFailure(reason)
  }

  async function closeAnnotator() {
    const closed = annotator
    annotator = undefined
    await closed?.close()
  }

  return {
    name,
    source,
    stream,
    watched: stream.watched,
    failure: () => failure,
    draw(n, drawing) {
      if (!production || production.isHalted) return
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
