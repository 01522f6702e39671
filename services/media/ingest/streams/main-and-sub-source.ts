import { isDeepStrictEqual } from 'node:util'
import type { SourceStatus } from '@eyrie/contract'
import { Mutex } from 'async-mutex'
import type { Source } from '../../sources/source.ts'
import type { Variants } from '../../transcode/source-variants.ts'
import { createSwitchedVariants } from '../../transcode/switched-variants.ts'
import {
  createPipelineSource,
  type PipelineSource,
  type PipelineSourceOptions,
} from '../pipeline-source.ts'
import { createStreamPosition, type StreamPosition } from '../stream-position.ts'
import { calculateRealignment } from '../timing/stream-alignment.ts'
import { type AnalysedStream, createAnalysedStream } from './analysed-stream.ts'
import { mergeStatus, selectAnalysed } from './merged-status.ts'
import { type StreamName, toStreamAddresses } from './stream-addresses.ts'

/** The sources of the two streams. */
type Streams = Readonly<Record<StreamName, PipelineSource>>

/**
 * Creates a source with two streams of one camera. The main stream is for full live views and
 * recordings. The sub stream, which is smaller, is for the analysis and for small live views. While
 * the sub stream is lost, the main stream takes its place.
 *
 * Both streams have the same stream time: that of the main stream. Each has its own
 * connection to the camera and its own reconnects. The frames of the analysis are numbered
 * consecutively across both.
 */
export function createMainAndSubSource(options: PipelineSourceOptions): Source {
  const { identity, listener } = options
  /** The newest status of each stream. */
  const statuses: Record<StreamName, SourceStatus> = {
    main: { id: identity.id, state: 'connecting' },
    sub: { id: identity.id, state: 'connecting' },
  }
  /** The status that the listener was notified of last. */
  let reported: SourceStatus | undefined
  /** Serializes changes of the views and of the analysed stream. */
  const mutex = new Mutex()

  const position = createStreamPosition(options.beginPts, options.clock)
  const streams = createStreams(options, position, onStatus)
  const { main, sub } = streams
  const analysed = createAnalysedStream(streams)
  const smallVariants = createSwitchedVariants(sub.variants)

  const selectStream = () => selectAnalysed(statuses, analysed.name())
  const status = () => mergeStatus(statuses, selectStream())

  /** A stream calls this only after its creation, when it has connected or failed. */
  function onStatus(name: StreamName, newStatus: SourceStatus) {
    statuses[name] = newStatus
    reportStatus()
    void mutex.runExclusive(switchIfNeeded).catch(error => {
      options.log.error({ err: error, source: identity.id }, 'failed to switch the analysed stream')
    })
  }

  function reportStatus() {
    const merged = status()
    if (!isDeepStrictEqual(merged, reported)) listener.onStatus(merged)
    reported = merged
  }

  /** Continues the analysis and the small live views with the other stream if it is selected. */
  async function switchIfNeeded() {
    const selected = selectStream()
    if (selected === analysed.name()) return
    smallVariants.switchTo(streams[selected].variants)
    await analysed.switchTo(selected)
  }

  return {
    stream: main.stream,
    variants: combineVariants(main.variants, sub.variants),
    smallVariants,
    sound: main.sound,
    status,
    setViews: (views, rate) => mutex.runExclusive(() => analysed.setViews(views, rate)),
    grant: (key, n, read) => analysed.source().grant(key, n, read),
    rings: () => analysed.source().rings(),
    addFrameReader: analysed.addFrameReader,
    stats: () => combineStats(streams, analysed),
    pictureStatistics: () => analysed.source().pictureStatistics(),
    endPts: position.endPts,
    async stop() {
      await Promise.all([main.stop(), sub.stop()])
    },
  }
}

/** Creates the sources of both streams. They share the stream time. */
function createStreams(
  options: PipelineSourceOptions,
  position: StreamPosition,
  onStatus: (name: StreamName, status: SourceStatus) => void,
): Streams {
  const { identity, listener, log } = options
  const addresses = toStreamAddresses(identity.address)

  const createStreamSource = (name: StreamName, onTiming?: () => void): PipelineSource =>
    createPipelineSource({
      ...options,
      identity: { ...identity, address: addresses[name] },
      log: log.child({ stream: name }),
      position,
      isMuted: name === 'sub',
      onTiming,
      listener: { ...listener, onStatus: status => onStatus(name, status) },
    })

  const main = createStreamSource('main')
  const sub: PipelineSource = createStreamSource('sub', () => alignSub({ main, sub }))
  return { main, sub }
}

/**
 * Gives the pictures of the sub stream the stream time that the main stream has at their capture.
 */
function alignSub({ main, sub }: Streams): void {
  const mainTiming = main.timing()
  const subTiming = sub.timing()
  if (!mainTiming || !subTiming) return
  const ptsOffset = calculateRealignment(mainTiming, subTiming)
  if (ptsOffset !== undefined) sub.realign(ptsOffset)
}

/** Returns the variants of the main stream. Viewers and encoders of both streams are counted. */
function combineVariants(main: Variants, sub: Variants): Variants {
  return {
    ...main,
    viewerCount: () => main.viewerCount() + sub.viewerCount(),
    isTranscoding: () => main.isTranscoding() || sub.isTranscoding(),
  }
}

/** Returns the counts of the analysed stream. Frames of both streams are counted. */
function combineStats(
  { main, sub }: Streams,
  analysed: AnalysedStream,
): ReturnType<Source['stats']> {
  const mainStats = main.stats()
  const subStats = sub.stats()
  return {
    ...analysed.source().stats(),
    written: mainStats.written + subStats.written,
    dropped: mainStats.dropped + subStats.dropped,
    packets: analysed.countPackets(),
  }
}
