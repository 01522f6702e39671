import type { Log } from '@eyrie/kit'
import type { FrameReader } from '../decode/decoding.ts'
import { createElementRanking } from '../gstreamer/element-ranking.ts'
import type { Clock } from '../runtime/clock.ts'
import type { StreamWriter } from '../stream/live-stream.ts'
import { createOnDemandStream, type OnDemandStream } from '../stream/on-demand-stream.ts'
import type { Encoder, Encoders } from './encoders.ts'
import { createTranscoder, type Transcoder } from './transcoder.ts'

export interface TranscodedStreamOptions {
  source: number
  epoch: number
  clock: Clock
  log: Log
  encoders: Encoders
  /** Adds a reader of the source's decoded pictures. Returns a function that removes it. */
  read(reader: FrameReader): () => Promise<void>
}

/** One attempt to transcode with one encoder. It is over when `current` is another one. */
interface Attempt {
  writer: StreamWriter
  transcoder?: Transcoder
  hasFailed: boolean
  leaveSource(): Promise<void>
}

/** The decoded pictures of a source encoded as H.264 without B-frames, which every player supports, while it has viewers. */
export function createTranscodedStream(options: TranscodedStreamOptions): OnDemandStream {
  const { source, epoch, clock, encoders, read } = options
  const log = options.log.child({ source })
  const ranking = createElementRanking<Encoder>()
  let current: Attempt | undefined

  function start(writer: StreamWriter) {
    const attempt: Attempt = { writer, hasFailed: false, leaveSource: async () => {} }
    current = attempt
    transcode(attempt).catch(error => fail(attempt, error.message))
  }

  async function stop() {
    const ended = current
    current = undefined
    await ended?.leaveSource()
    log.info('transcoding stopped')
  }

  async function transcode(attempt: Attempt) {
    const candidates = await encoders()
    if (current !== attempt) return
    const encoder = ranking.best(candidates)!
    const { begin, write, interrupt } = attempt.writer
    attempt.transcoder = createTranscoder(encoder, {
      track: begin,
      unit: write,
      interrupted: interrupt,
      failed: reason => switchEncoder(attempt, encoder, candidates, reason),
    })
    attempt.leaveSource = read(attempt.transcoder)
    log.info({ encoder: encoder.name }, 'transcoding to H.264 started')
  }

  /** Viewers remain connected and continue with the first keyframe of the next best encoder. */
  function switchEncoder(attempt: Attempt, encoder: Encoder, candidates: readonly Encoder[], reason: string) {
    if (current !== attempt || attempt.hasFailed) return
    log.warn({ encoder: encoder.name, reason }, 'failed to transcode with encoder')
    if (!ranking.markFailed(encoder, candidates)) return fail(attempt, reason)
    attempt.writer.interrupt()
    void attempt.leaveSource()
    start(attempt.writer)
  }

  /** Disconnects all viewers. The next one causes another attempt. */
  function fail(attempt: Attempt, reason: string) {
    if (current !== attempt || attempt.hasFailed) return
    attempt.hasFailed = true
    log.warn({ reason }, 'failed to transcode')
    void attempt.leaveSource()
    attempt.writer.end(`the picture cannot be transcoded: ${reason}`)
  }

  return createOnDemandStream({
    epoch,
    clock,
    start,
    stop,
    onViewerJoined() {
      if (current?.hasFailed) start(current.writer)
      else current?.transcoder?.forceKeyframe()
    },
  })
}
