import type { Drawing } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import { createElementRanking } from '../../gstreamer/element-ranking.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Source } from '../../sources/source.ts'
import type { Stream, StreamWriter } from '../../stream/live-stream.ts'
import { createOnDemandStream } from '../../stream/on-demand-stream.ts'
import type { Encoder, EncoderListener, Encoders } from '../../transcode/encoders.ts'
import { type Annotator, createAnnotator } from './annotator.ts'
import { renderSvg } from './drawing-svg.ts'
import { createFrameBuffer, type Frame, type FrameBuffer } from './frame-buffer.ts'
import { createPendingDrawings } from './pending-drawings.ts'

export interface AnnotatedStreamOptions {
  name: string
  source: Source
  epoch: number
  clock: Clock
  log: Log
  encoders: Encoders
  /** Called when the first viewer has joined and after the last one has left. */
  onWatched(watched: boolean): void
  /**
   * Called with the reason when the stream cannot be produced, and with undefined
   * when it works again.
   */
  onFailure(reason: string | undefined): void
}

/**
 * A live view of the analysed frames of a channel, with the results drawn into the picture.
 * The stream is produced only while it has viewers. The engine sends a drawing for each frame
 * that it has analysed.
 */
export interface AnnotatedStream {
  readonly name: string
  readonly source: Source
  readonly stream: Stream
  /** Returns whether the stream has viewers. */
  isWatched(): boolean
  /**
   * Returns the reason why the last attempt to produce the stream failed. The next viewer
   * causes another attempt.
   */
  failure(): string | undefined
  /** Adds the drawing for frame number `n`. Does nothing without viewers. */
  draw(n: number, drawing: Drawing): void
  /** Resolves when the first fragment has been sent. Rejects with the signal's reason. */
  waitUntilStarted(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** The production of the stream, which exists while the stream has viewers. */
interface Production {
  writer: StreamWriter
  frames: FrameBuffer
  /** Whether viewers were disconnected after a failure, and no viewer has joined since. */
  isHalted: boolean
  leaveSource(): Promise<void>
}

export function createAnnotatedStream(options: AnnotatedStreamOptions): AnnotatedStream {
  const { name, source, epoch, clock, onWatched, onFailure } = options
  const log = options.log.child({ stream: name })
  const stream = createOnDemandStream({ epoch, clock, start, stop, onViewerJoined: resume })
  const drawings = createPendingDrawings()
  let production: Production | undefined
  /** The loop that renders frames; undefined while there is nothing to render. */
  let rendering: Promise<void> | undefined
  let failure: string | undefined
  const encoding = createEncoding(options.encoders, log, {
    onTrack: track => production?.writer.begin(track),
    onUnit(unit) {
      setFailure(undefined)
      production?.writer.write(unit)
    },
    onSwitch: () => production?.writer.interrupt(),
    onFailure: halt,
  })

  function start(writer: StreamWriter) {
    const frames = createFrameBuffer(name, renderPending)
    production = { writer, frames, isHalted: false, leaveSource: source.addFrameReader(frames) }
    onWatched(true)
  }

  async function stop() {
    const ended = production
    production = undefined
    drawings.clear()
    onWatched(false)

    await ended?.leaveSource()
    await rendering
    await encoding.close()
  }

  /** Ends the halt after a failure, so that production is attempted again. */
  function resume() {
    if (production) production.isHalted = false
  }

  /** Renders all drawings whose frames have arrived, unless this is already in progress. */
  function renderPending() {
    rendering ??= renderMatches().finally(() => {
      rendering = undefined
    })
  }

  async function renderMatches() {
    const claimNext = () => production && drawings.claimNext(production.frames)
    try {
      let match = claimNext()
      while (match) {
        await encoding.render(match.frame, match.drawing)
        match = claimNext()
      }
    } catch (error) {
      halt((error as Error).message)
    }
  }

  /** Disconnects all viewers after a failure. The next viewer causes another attempt. */
  function halt(reason: string) {
    if (production?.isHalted) return

    if (production) production.isHalted = true
    drawings.clear()

    log.warn({ reason }, 'failed to produce annotated stream')
    setFailure(`the stream ${name} cannot be produced: ${reason}`)
    production?.writer.end(`the annotated stream cannot be produced: ${reason}`)
  }

  function setFailure(reason: string | undefined) {
    if (reason === failure) return
    failure = reason
    onFailure(reason)
  }

  return {
    name,
    source,
    stream,
    isWatched: stream.isRunning,
    failure: () => failure,

    draw(n, drawing) {
      if (!production || production.isHalted) return
      drawings.add(n, drawing)
      renderPending()
    },

    waitUntilStarted: stream.waitUntilStarted,
    async close() {
      await stream.close('the stream is no longer produced')
      setFailure(undefined)
    },
  }
}

interface EncodingListener extends EncoderListener {
  /** Called when another encoder continues after a failure. */
  onSwitch(): void
  /** Called when no encoder is left that has not failed. */
  onFailure(reason: string): void
}

/** Draws into frames and encodes them, with the best encoder that has not failed. */
function createEncoding(encoders: Encoders, log: Log, listener: EncodingListener) {
  /** Remembers the encoders that have failed. */
  const ranking = createElementRanking<Encoder>()
  /** Replaced when the size of the frames changes or the encoder fails. */
  let annotator: Annotator | undefined

  async function open(frame: Frame): Promise<Annotator> {
    const candidates = await encoders()
    const encoder = ranking.best(candidates)!
    return createAnnotator(frame, encoder, {
      onTrack: listener.onTrack,
      onUnit: listener.onUnit,
      onFailure: reason => handleFailure(encoder, candidates, reason),
    })
  }

  /** Switches to the next best encoder for the next frame. Viewers remain connected. */
  function handleFailure(encoder: Encoder, candidates: readonly Encoder[], reason: string): void {
    log.warn({ encoder: encoder.name, reason }, 'failed to encode annotated stream')
    const hasAlternative = ranking.markFailed(encoder, candidates)
    if (hasAlternative) listener.onSwitch()
    else listener.onFailure(reason)
  }

  async function close(): Promise<void> {
    const closed = annotator
    annotator = undefined
    await closed?.close()
  }

  return {
    async render(frame: Frame, drawing: Drawing): Promise<void> {
      // After a failure, the annotator accepts no more frames.
      if (annotator && !annotator.accepts(frame)) await close()
      annotator ??= await open(frame)
      await annotator.render(frame, renderSvg(drawing, frame))
    },
    close,
  }
}
