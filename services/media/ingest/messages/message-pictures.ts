import { isDeepStrictEqual } from 'node:util'
import type { Decoding } from '../../decode/decoding.ts'
import { isAuxiliary } from '../../gstreamer/auxiliary-elements.ts'
import { Pipeline } from '../../node-gst/index.ts'
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

/**
 * Replaces the picture of a frame without one. Only readers that need no picture get such frames.
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
  async function begin(shape: PictureShape, { pts, timeUs }: PictureTime) {
    await end()

    const pipeline = new Pipeline(buildLaunch(shape), message => {
      if (message.type !== 'error') return
      if (isAuxiliary(message.error)) return decoding.onAuxiliaryFailure(message.error)
      onError(message.error.message)
      void end()
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
      await end()
      throw error
    }
  }

  async function end() {
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
      if (!isDeepStrictEqual(session?.shape, shape)) await begin(shape, time)

      session?.pipeline.push('origin', data, { ptsNs: ticksToNs(time.pts - session.beginPts) })
    },
    stop: end,
  }
}

function buildLaunch({ format, width, height }: PictureShape): string {
  const size = `width=${width},height=${height},framerate=0/1`
  const caps =
    format === 'JPEG' ? `image/jpeg,parsed=true,${size}` : `video/x-raw,format=${format},${size}`
  const source =
    'appsrc name=origin format=time is-live=true max-buffers=8 max-bytes=0 leaky-type=downstream'
  return `${source} caps="${caps}" ! tee name=packets allow-not-linked=true`
}
