import { type Pacing, TICKS_PER_SECOND } from '@eyrie/contract'
import type { Branch, Numbering, Pipeline } from '../node-gst/index.ts'
import { buildDecoderLaunch } from './decoders.ts'
import { decodeQueueName } from './thread-times.ts'

/**
 * Names of the tees, which are elements that pass decoded pictures on to several branches of the
 * pipeline. `FRAMES` has the numbered frames, `PICTURES` all decoded pictures.
 */
export const FRAMES = 'frames'
const PICTURES = 'pictures'

/**
 * At most one frame per tick of stream time. The second of two frames with equal `pts` is dropped.
 */
const UNLIMITED_RATE = TICKS_PER_SECOND
/** A stream time before every picture. */
const BEFORE_FIRST_PTS = -1
/**
 * If the decoder of a live source lags further behind, it loses packets, so that live
 * views are not affected.
 */
const MAX_QUEUE_NS = 2_000_000_000

/** The end of the frames of one decoder, from which another one can continue. */
export interface FramePosition {
  /** Number of the next frame. */
  nextNumber: number
  /** Stream time of the newest frame, in 90 kHz ticks; undefined before the first. */
  newestPts: number | undefined
}

/** The pipeline that packets come from. */
export interface PacketPipeline {
  pipeline: Pipeline
  /** Element that decodes the packets. */
  decoder: string
  /** Returns whether packets may already have passed the tee `packets`. */
  hasStarted: () => boolean
}

/**
 * The branch of a pipeline that decodes a source. It numbers the frames and limits their rate. The
 * numbers continue when the branch is removed and added again, also on another pipeline.
 */
export interface DecoderBranch {
  isRunning(): boolean
  /**
   * Returns whether the branch was added after packets had passed, so that it may have
   * missed the last keyframe.
   */
  isLate(): boolean
  /**
   * Adds the branch to the tee `packets` of the pipeline. Does nothing if the branch exists. No
   * packet is decoded until `start` is called, so that readers can be connected before.
   */
  add(source: PacketPipeline): void
  start(): Promise<void>
  /** Removes the branch from a pipeline that continues to run. */
  remove(): Promise<void>
  /** Must be called before the pipeline is disposed of, instead of `remove`. */
  detach(): void
  /** Sets the maximum frame rate in frames per second. Without a rate, every frame is passed on. */
  limitRate(rate: number | undefined): void
  position(): FramePosition
  /** Numbers the next frames after this position, and drops frames that are not newer. */
  continueFrom(position: FramePosition): void
}

export interface DecoderBranchOptions {
  /** Id of the source. */
  source: number
  /** Whether packets are dropped if the decoder is too slow, or wait for it. */
  pacing: Pacing
}

export function createDecoderBranch({ source, pacing }: DecoderBranchOptions): DecoderBranch {
  let running: { branch: Branch; numbering: Numbering; isLate: boolean } | undefined
  let frameRate = UNLIMITED_RATE
  /** The position when it was last read. A running branch may have advanced since. */
  let lastPosition: FramePosition = { nextNumber: 1, newestPts: undefined }

  function readPosition({ next, newestPts }: Numbering) {
    lastPosition = { nextNumber: next, newestPts: newestPts ?? lastPosition.newestPts }
  }

  function position() {
    if (running) readPosition(running.numbering)
    return lastPosition
  }

  return {
    isRunning: () => running !== undefined,
    isLate: () => running?.isLate === true,

    add({ pipeline, decoder, hasStarted }) {
      if (running) return
      const branch = pipeline.add(buildLaunch(source, pacing, decoder), 'packets')
      const numbering = pipeline.number(FRAMES, 'sink', { rate: frameRate })
      const { nextNumber, newestPts = BEFORE_FIRST_PTS } = lastPosition
      numbering.continueFrom(nextNumber, newestPts)
      running = { branch, numbering, isLate: hasStarted() }
    },

    async start() {
      await running?.branch.start()
    },

    async remove() {
      if (!running) return
      const { branch, numbering } = running
      running = undefined
      await branch.remove()
      // Frames may have been numbered until the branch was removed.
      readPosition(numbering)
    },

    detach() {
      if (running) readPosition(running.numbering)
      running = undefined
    },

    limitRate(rate = UNLIMITED_RATE) {
      frameRate = rate
      running?.numbering.setRate(rate)
    },

    position,

    continueFrom(other) {
      const own = position()
      const nextNumber = Math.max(own.nextNumber, other.nextNumber)
      const newestPts = Math.max(
        own.newestPts ?? BEFORE_FIRST_PTS,
        other.newestPts ?? BEFORE_FIRST_PTS,
      )
      lastPosition = { nextNumber, newestPts }
      running?.numbering.continueFrom(nextNumber, newestPts)
    },
  }
}

/**
 * Returns the launch string of the branch that decodes packets and passes the pictures to the tees.
 */
function buildLaunch(source: number, pacing: Pacing, decoder: string): string {
  const leaky = pacing === 'all' ? 'no' : 'downstream'
  const limits = `max-size-buffers=0 max-size-bytes=0 max-size-time=${MAX_QUEUE_NS}`
  const queue = `queue name=${decodeQueueName(source)} leaky=${leaky} ${limits}`
  const tee = (name: string) => `tee name=${name} allow-not-linked=true`
  const pictures = `${queue} ! ${buildDecoderLaunch(decoder)} ! video/x-raw ! ${tee(PICTURES)}`
  return `${pictures} ${PICTURES}. ! ${tee(FRAMES)}`
}
