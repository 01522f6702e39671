import type { Log } from '@eyrie/kit'
import type { FrameReader } from '../decode/decoding.ts'
import { createElementRanking } from '../gstreamer/element-ranking.ts'
import type { Clock } from '../runtime/clock.ts'
import type { StreamWriter } from '../stream/live-stream.ts'
import { createOnDemandStream, type OnDemandStream } from '../stream/on-demand-stream.ts'
import type { Encoder, Encoders } from './encoders.ts'
import { createTranscoder, type Transcoder } from './transcoder.ts'

/** Options of a transcoded stream, which offers the decoded pictures of one source as H.264. */
export interface TranscodedStreamOptions {
  source: number
  /** Start of this run of the service. Stream times of different epochs are not comparable. */
  epoch: number
  clock: Clock
  log: Log
  encoders: Encoders
  /** Adds a reader of the source's decoded pictures. Returns a function that removes it. */
  read(reader: FrameReader): () => Promise<void>
}

/** The transcoding from the arrival of the first viewer until the last viewer has left. */
interface Run {
  readonly writer: StreamWriter
  /** Aborted when the last viewer has left. */
  readonly stopping: AbortController
  /** Whether every encoder has failed. */
  hasFailed: boolean
  /** The transcoder in use; undefined until the first encoder is chosen. */
  transcoder?: Transcoder
  /**
   * Removes the transcoder from the readers of the source; undefined until the first encoder is
   * chosen.
   */
  leaveSource?(): Promise<void>
}

/** Time after which all encoders are tried again for the remaining readers. */
const RETRY_MS = 30_000

/**
 * Creates a stream of a source transcoded to H.264 without B-frames, which every player supports.
 * Pictures are transcoded only while the stream has viewers.
 */
export function createTranscodedStream(options: TranscodedStreamOptions): OnDemandStream {
  const { source, epoch, clock, encoders, read } = options
  const log = options.log.child({ source })
  const ranking = createElementRanking<Encoder>()
  let currentRun: Run | undefined

  function start(writer: StreamWriter) {
    const run: Run = { writer, stopping: new AbortController(), hasFailed: false }
    currentRun = run
    transcode(run).catch(error => failRun(run, error.message))
  }

  async function stop() {
    const run = currentRun
    currentRun = undefined
    run?.stopping.abort()
    await run?.leaveSource?.()
    log.info('transcoding stopped')
  }

  /**
   * Transcodes until the run is stopped. When an encoder fails, the next best encoder continues:
   * viewers stay connected and resume at its first keyframe. Rejects when every encoder has failed.
   */
  async function transcode(run: Run) {
    const { signal } = run.stopping
    while (!signal.aborted) {
      const candidates = await encoders()
      if (signal.aborted) return

      const encoder = ranking.best(candidates)
      if (!encoder) throw new Error('no H.264 encoder works')
      const reason = await encodeUntilFailure(run, encoder)
      if (signal.aborted) return

      log.warn({ encoder: encoder.name, reason }, 'failed to transcode with encoder')
      const hasAlternative = ranking.markFailed(encoder, candidates)
      if (!hasAlternative) throw new Error(reason)
      run.writer.interrupt()
      void run.leaveSource?.()
    }
  }

  /**
   * Encodes the pictures of the source. Resolves to the reason when the encoder fails; remains
   * pending while it works.
   */
  function encodeUntilFailure(run: Run, encoder: Encoder): Promise<string> {
    const failure = Promise.withResolvers<string>()
    const { begin, write, interrupt } = run.writer
    run.transcoder = createTranscoder(encoder, {
      onTrack: begin,
      onUnit: write,
      onInterrupt: interrupt,
      onFailure: failure.resolve,
    })
    run.leaveSource = read(run.transcoder)
    log.info({ encoder: encoder.name }, 'transcoding to H.264 started')
    return failure.promise
  }

  /**
   * Disconnects all viewers. The next viewer starts another run. Readers, such as a recording, stay
   * connected: another run starts for them after `RETRY_MS`.
   */
  function failRun(run: Run, reason: string) {
    if (run.stopping.signal.aborted) return
    run.hasFailed = true
    log.warn({ reason }, 'failed to transcode')
    void run.leaveSource?.()
    run.writer.end(`the picture cannot be transcoded: ${reason}`)
    clock.sleep(RETRY_MS, run.stopping.signal).then(
      () => {
        if (run === currentRun) start(run.writer)
      },
      () => {},
    )
  }

  function onViewerJoined() {
    if (currentRun?.hasFailed) start(currentRun.writer)
    else currentRun?.transcoder?.forceKeyframe()
  }

  return createOnDemandStream({ epoch, clock, start, stop, onViewerJoined })
}
