import { isDeepStrictEqual } from 'node:util'
import type { Decoding } from '../../decode/decoding.ts'
import { isAuxiliary } from '../../gstreamer/auxiliary-elements.ts'
import { Pipeline } from '../../node-gst/index.ts'
import type { FrameMessage, MessagePicture } from './frame-message.ts'

/** Puts the pictures of messages into the views that are wanted of them. */
export interface MessagePictures {
  /** Resolves when the picture is on its way. `pts` in 90 kHz ticks, µs since 1970 is when it was taken. */
  show(message: FrameMessage, at: { pts: number; timeUs: number }): Promise<void>
  stop(): Promise<void>
}

type Shape = Omit<MessagePicture, 'data'>

/** Stands for a frame without a picture, where nobody looks at it. */
const NOTHING: MessagePicture = { format: 'GRAY8', width: 16, height: 16, data: new Uint8Array(16 * 16) }

const nanoseconds = (ticks: number) => Math.round((ticks * 100_000) / 9)

export interface MessagePicturesOptions {
  decoding: Decoding
  /** A picture that arrived whole cannot be decoded, or not be brought into a view. */
  onTrouble(reason: string): void
}

export function createMessagePictures({ decoding, onTrouble }: MessagePicturesOptions): MessagePictures {
  let session: { pipeline: Pipeline; shape: Shape; shown: unknown; begin: number } | undefined

  async function begin(
    shape: Shape,
    shown: { width: number; height: number },
    at: { pts: number; timeUs: number },
  ) {
    await end()
    const pipeline = new Pipeline(launchFor(shape), message => {
      if (message.type !== 'error') return
      if (isAuxiliary(message.error)) decoding.auxiliaryFailed(message.error)
      else {
        onTrouble(message.error.message)
        void end()
      }
    })
    session = { pipeline, shape, shown, begin: at.pts }
    const codec = shape.format === 'JPEG' ? 'jpeg' : 'raw'
    try {
      pipeline.setTimeline({ ptsOffset: at.pts, timeAnchorUs: at.timeUs })
      await decoding.show({ codec, ...shown, pixelAspect: { numerator: 1, denominator: 1 }, fps: undefined })
      await decoding.attach(pipeline, codec === 'jpeg' ? 'jpegdec' : 'identity')
      await pipeline.setState('playing')
    } catch (error) {
      await end()
      throw error
    }
  }

  async function end() {
    const ended = session?.pipeline
    session = undefined
    if (!ended) return
    await decoding.detach()
    await ended.dispose()
  }

  return {
    async show({ picture = NOTHING, header }, at) {
      const { data, ...shape } = picture
      // Whoever looks at no picture is still to know how large the source's is.
      const shown = picture === NOTHING ? { width: header.width, height: header.height } : shape
      const { width, height } = shown
      const same = session && isDeepStrictEqual([session.shape, session.shown], [shape, { width, height }])
      if (!same) await begin(shape, { width, height }, at)
      session?.pipeline.push('origin', data, { ptsNs: nanoseconds(at.pts - session.begin) })
    },
    stop: end,
  }
}

function launchFor({ format, width, height }: Shape): string {
  const size = `width=${width},height=${height},framerate=0/1`
  const caps = format === 'JPEG' ? `image/jpeg,parsed=true,${size}` : `video/x-raw,format=${format},${size}`
  const source = 'appsrc name=origin format=time is-live=true max-buffers=8 max-bytes=0 leaky-type=downstream'
  return `${source} caps="${caps}" ! tee name=packets allow-not-linked=true`
}
