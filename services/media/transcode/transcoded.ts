import type { Log } from '@eyrie/kit'
import type { Clock } from '../clock.ts'
import type { FrameReader } from '../decode/decoding.ts'
import { createOnDemand, type OnDemand } from '../live/on-demand.ts'
import type { StreamWriter } from '../live/stream.ts'
import { bestEncoder } from './encoders.ts'
import { createTranscoder, type Transcoder } from './transcoder.ts'

export interface TranscodedOptions {
  source: number
  epoch: number
  clock: Clock
  log: Log
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
export function createTranscoded({ source, epoch, clock, log, read }: TranscodedOptions): OnDemand {
  let making: Making | undefined

  const stream = createOnDemand({
    epoch,
    clock,
    begin: start,
    async end() {
      const ended = making
      making = undefined
      await ended?.leave()
      log.info(`source ${source} is no longer transcoded`)
    },
    onViewer() {
      if (making?.failed) start(making.writer)
      else making?.transcoder?.forceKeyframe()
    },
  })

  function start(writer: StreamWriter) {
    const mine: Making = { writer, leave: async () => {}, failed: false }
    making = mine
    transcode(mine).catch(error => fail(error.message))
  }

  async function transcode(mine: Making) {
    const encoder = await bestEncoder()
    if (making !== mine) return
    const { begin, write, interrupt } = mine.writer
    mine.transcoder = createTranscoder(encoder, {
      track: begin,
      unit: write,
      interrupted: interrupt,
      failed: fail,
    })
    mine.leave = read(mine.transcoder)
    log.info(`source ${source} is transcoded to H.264, since somebody watches`)
  }

  /** Viewers are told, and may come again. */
  function fail(reason: string) {
    if (!making || making.failed) return
    making.failed = true
    log.warn(`source ${source} cannot be transcoded: ${reason}`)
    void making.leave()
    making.writer.end(`the picture cannot be transcoded: ${reason}`)
  }

  return stream
}
