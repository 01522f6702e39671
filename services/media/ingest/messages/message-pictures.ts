import { isDeepStrictEqual } from 'node:util'
import type { Decoding } from '../../decode/decoding.ts'
import { isAuxiliary } from '../../gstreamer/auxiliary-elements.ts'
import { type GstError, Pipeline } from '../../node-gst/index.ts'
import { ticksToNs } from '../../runtime/stream-time.ts'
import type { FrameMessage, MessagePicture } from './frame-message.ts'

/**
 * Passes the pictures of messages, which other programs send, to a GStreamer pipeline that scales
 * them to the sizes and formats (views) that readers have requested.
 */
export interface MessagePictures {
  /** Queues the picture of a message, or a placeholder if the message has no picture. */
  push(message: FrameMessage, time: PictureTime): Promise<void>
  stop(): Promise<void>
}

interface PictureTime {
  /** Stream time in 90 kHz ticks. */
  pts: number
  /** Capture time in µs since 1970. */
  timeUs: number
}

/**
 * The properties of a picture that the pipeline depends on. The pipeline is
 * recreated when they change.
 */
interface PictureShape {
  format: MessagePicture['format']
  width: number
  height: number
  /** Size of the source's pictures to report. */
  sourceSize: { width: number; height: number }
}

/** Name of the GStreamer element that receives the pictures. */
const ORIGIN = 'origin'
/** Pictures that wait for the pipeline. The oldest one is dropped if there are more. */
const MAX_QUEUED_PICTURES = 8

/**
 * A message may have results without a picture. Its frame then has this placeholder. Only readers
 * that need no picture receive such frames.
 */
const PLACEHOLDER: MessagePicture = {
  format: 'GRAY8',
  width: 16,
  height: 16,
  data: new Uint8Array(16 * 16),
}

export interface MessagePicturesOptions {
  decoding: Decoding
  /** Called when a picture cannot be decoded or scaled. */
  onError(reason: string): void
}

export function createMessagePictures({
  decoding,
  onError,
}: MessagePicturesOptions): MessagePictures {
  /** The pipeline for pictures of one shape, and the stream time of its first picture. */
  let session: { pipeline: Pipeline; shape: PictureShape; beginPts: number } | undefined

  /** Replaces the pipeline by one for pictures of this shape. */
  async function beginSession(shape: PictureShape, { pts, timeUs }: PictureTime) {
    await endSession()

    const pipeline = new Pipeline(buildLaunch(shape), message => {
      if (message.type === 'error') handleError(message.error)
    })
    session = { pipeline, shape, beginPts: pts }

    const isJpeg = shape.format === 'JPEG'
    try {
      pipeline.setTimeline({ ptsOffset: pts, timeAnchorUs: timeUs })
      await decoding.setPicture({
        codec: isJpeg ? 'jpeg' : 'raw',
        ...shape.sourceSize,
        pixelAspect: { numerator: 1, denominator: 1 },
        fps: undefined,
      })
      await decoding.attach(pipeline, isJpeg ? 'jpegdec' : 'identity')
      await pipeline.setState('playing')
    } catch (error) {
      await endSession()
      throw error
    }
  }

  function handleError(error: GstError) {
    // Failures of a branch for one reader do not affect the pipeline.
    if (isAuxiliary(error)) {
      decoding.onAuxiliaryFailure(error)
    } else {
      onError(error.message)
      void endSession()
    }
  }

  async function endSession() {
    const pipeline = session?.pipeline
    session = undefined
    if (!pipeline) return

    await decoding.detach()
    await pipeline.dispose()
  }

  return {
    async push({ picture, header }, time) {
      const { data, format, width, height } = picture ?? PLACEHOLDER
      // Without a picture, the header has the size of the source's pictures.
      const sourceSize = picture
        ? { width, height }
        : { width: header.width, height: header.height }
      const shape: PictureShape = { format, width, height, sourceSize }
      if (!isDeepStrictEqual(session?.shape, shape)) await beginSession(shape, time)

      // The pipeline may have failed since then.
      session?.pipeline.push(ORIGIN, data, { ptsNs: ticksToNs(time.pts - session.beginPts) })
    },
    stop: endSession,
  }
}

/** Builds the launch string. The branches that decode and scale are later added to the tee. */
function buildLaunch({ format, width, height }: PictureShape): string {
  const size = `width=${width},height=${height},framerate=0/1`
  const caps =
    format === 'JPEG' ? `image/jpeg,parsed=true,${size}` : `video/x-raw,format=${format},${size}`
  const limits = `max-buffers=${MAX_QUEUED_PICTURES} max-bytes=0 leaky-type=downstream`
  const source = `appsrc name=${ORIGIN} format=time is-live=true ${limits}`
  return `${source} caps="${caps}" ! tee name=packets allow-not-linked=true`
}
