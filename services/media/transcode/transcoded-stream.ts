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
  /** How to read the source's decoded pictures; returns how to leave. */
  read(reader: FrameReader): () => Promise<void>
}

interface Making {
  writer: StreamWriter
  transcoder?: Transcoder
  /** Undoes what has been begun so far. */
  leave(): Promise<void>
  failed: boolean
}

/** A source in H.264 that every player takes, without B-frames, made of its decoded pictures while somebody watches. */
export function createTranscodedStream({
  source,
  epoch,
  clock,
  log,
  encoders,
  read,
}: TranscodedStreamOptions): OnDemandStream {
  const ranking = createElementRanking<Encoder>()
  let making: Making | undefined

  const stream = createOnDemandStream({
    epoch,
    clock,
    start: start,
    async stop() {
      const ended = making
      making = undefined
      await ended?.leave()
      log.info(`source ${source} is no longer transcoded`)
    },
    onViewerJoined() {
      if (making?.failed) start(making.writer)
      else making?.transcoder?.forceKeyframe()
    },
  })

  function start(writer: StreamWriter) {
    const mine: Making = { writer, leave: async () => {}, failed: false }
    making = mine
    transcode(mine).catch(error => fail(mine, error.message))
  }

  async function transcode(mine: Making) {
    const candidates = await encoders()
    if (making !== mine) return
    const encoder = ranking.best(candidates)!
    const { begin, write, interrupt } = mine.writer
    mine.transcoder = createTranscoder(encoder, {
      track: begin,
      unit: write,
      interrupted: interrupt,
      failed: reason => passOver(mine, encoder, candidates, reason),
    })
    mine.leave = read(mine.transcoder)
    log.info(`source ${source} is transcoded to H.264 by ${encoder.name}, since somebody watches`)
  }

  /** Viewers stay, and go on with the next keyframe of the next best. */
  function passOver(mine: Making, encoder: Encoder, candidates: readonly Encoder[], reason: string) {
    if (making !== mine || mine.failed) return
    log.warn(`source ${source}: the encoder ${encoder.name} has failed: ${reason}`)
    if (!ranking.markFailed(encoder, candidates)) return fail(mine, reason)
    mine.writer.interrupt()
    void mine.leave()
    start(mine.writer)
  }

  /** Viewers are told, and may come again. */
  function fail(mine: Making, reason: string) {
    if (making !== mine || mine.failed) return
    mine.failed = true
    log.warn(`source ${source} cannot be transcoded: ${reason}`)
    void mine.leave()
    mine.writer.end(`the picture cannot be transcoded: ${reason}`)
  }

  return stream
}
