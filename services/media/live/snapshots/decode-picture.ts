import { EyrieError } from '@eyrie/contract'
import { findSoftwareDecoder } from '../../decode/decoders.ts'
import { parsePicture } from '../../gstreamer/picture.ts'
import { Pipeline, type Sample } from '../../node-gst/index.ts'
import { ticksToNs } from '../../runtime/stream-time.ts'
import type { StreamUnit, Track } from '../../stream/live-stream.ts'
import type { PlayableTrack } from '../../stream/sample-entry.ts'

/** A picture as JPEG, or as BGRx pixels of four bytes in unpadded rows. */
export interface DecodedPicture {
  data: Uint8Array<ArrayBuffer>
  /** Stream time in 90 kHz ticks. */
  pts: number
  /** Size in square pixels. */
  width: number
  height: number
}

const TIMEOUT_MS = 5_000
const JPEG_QUALITY = 85
const OUTPUTS = {
  jpeg: `videoconvert ! jpegenc quality=${JPEG_QUALITY}`,
  pixels: 'videoconvert ! video/x-raw,format=BGRx',
}

/**
 * Decodes the last one of `units`, which must begin with a keyframe, and optionally scales the
 * picture to `width`. Throws `EyrieError` (`unavailable`) if the picture cannot be decoded.
 */
export async function decodePicture(
  track: Track,
  units: readonly StreamUnit[],
  output: keyof typeof OUTPUTS,
  width?: number,
): Promise<DecodedPicture> {
  const { codec, caps } = describeTrack(track)
  const targetPts = units.at(-1)!.pts
  const firstPts = Math.min(...units.map(unit => unit.pts))
  /** Size of the output. The first sample has caps, from which it is known. */
  let size = { width: 0, height: 0 }

  return runPipeline({
    launch: createDecodeLaunch(codec, output, width),

    configure(pipeline) {
      pipeline.set('input', 'caps', caps)
      pipeline.setTimeline({ ptsOffset: firstPts })
    },

    pushInput(pipeline) {
      for (const unit of units) {
        const ptsNs = ticksToNs(unit.pts - firstPts)
        pipeline.push('input', unit.data, { ptsNs, decodeOnly: unit.pts !== targetPts })
      }
    },

    readOutput(sample) {
      const picture = sample.caps && parsePicture(sample.caps)
      if (picture) size = { width: picture.width, height: picture.height }
      if (sample.pts !== targetPts) return undefined
      return { data: Uint8Array.from(sample.data), pts: targetPts, ...size }
    },
  })
}

/**
 * Encodes pixels as JPEG, optionally with a drawing on top. Throws `EyrieError`
 * (`unavailable`) if encoding fails.
 */
export async function encodePicture(
  picture: DecodedPicture,
  svg: string | undefined,
): Promise<DecodedPicture> {
  const { width, height, pts } = picture
  const caps = `video/x-raw,format=BGRx,width=${width},height=${height},framerate=1/1`
  const overlay = svg === undefined ? '' : '! videoconvert ! rsvgoverlay name=overlay'

  return runPipeline({
    launch: `appsrc name=input format=time max-bytes=0 caps="${caps}" ${overlay} ! ${OUTPUTS.jpeg}`,

    configure(pipeline) {
      if (svg !== undefined) pipeline.set('overlay', 'data', svg)
    },

    pushInput(pipeline) {
      pipeline.push('input', picture.data, { ptsNs: 0 })
    },

    readOutput: sample => ({ data: Uint8Array.from(sample.data), pts, width, height }),
  })
}

/** A GStreamer pipeline that produces one picture. */
interface PictureJob {
  /** Launch string of the pipeline, which begins with the appsrc `input`. */
  launch: string
  /** Called before the pipeline starts. */
  configure(pipeline: Pipeline): void
  /** Called once the pipeline plays. */
  pushInput(pipeline: Pipeline): void
  /** Returns the picture; undefined if the sample is not the wanted one. */
  readOutput(sample: Sample): DecodedPicture | undefined
}

/** Runs a pipeline until its picture is complete. */
async function runPipeline(job: PictureJob): Promise<DecodedPicture> {
  const { promise, resolve, reject } = Promise.withResolvers<DecodedPicture>()
  const fail = (reason: string) =>
    reject(new EyrieError('unavailable', `the picture cannot be decoded: ${reason}`))

  const pipeline = new Pipeline(
    `${job.launch} ! appsink name=output sync=false async=false`,
    message => {
      if (message.type === 'error') fail(message.error.message)
      if (message.type === 'eos') fail('it is incomplete')
    },
  )
  const timeout = setTimeout(() => fail(`decoding took longer than ${TIMEOUT_MS} ms`), TIMEOUT_MS)

  try {
    job.configure(pipeline)
    pipeline.samples('output', { queue: 1, full: 'block' }, sample => {
      const picture = job.readOutput(sample)
      if (picture) resolve(picture)
      sample.release()
    })

    // The race handles a rejection of `promise` during the start, which would otherwise be an
    // unhandled rejection.
    await Promise.race([pipeline.setState('playing'), promise])
    job.pushInput(pipeline)
    pipeline.endOfStream('input')
    return await promise
  } finally {
    clearTimeout(timeout)
    await pipeline.dispose()
  }
}

function createDecodeLaunch(
  codec: string,
  output: keyof typeof OUTPUTS,
  width: number | undefined,
): string {
  const scaledWidth = width === undefined ? '' : `,width=${width}`
  return [
    'appsrc name=input format=time max-bytes=0',
    findSoftwareDecoder(codec),
    `videoscale ! video/x-raw,pixel-aspect-ratio=1/1${scaledWidth}`,
    OUTPUTS[output],
  ].join(' ! ')
}

/** Returns the codec of a stream, and the caps (GStreamer's description of the format). */
function describeTrack(track: Track): { codec: string; caps: string } {
  if ('caps' in track) return track
  if ('avcC' in track) {
    const format = 'video/x-h264,stream-format=avc'
    return { codec: 'h264', caps: `${format},${createCaps(track, track.avcC)}` }
  }
  const format = 'video/x-h265,stream-format=hvc1'
  return { codec: 'h265', caps: `${format},${createCaps(track, track.hvcC)}` }
}

/** Returns the fields that the caps of H.264 and H.265 have in common. */
function createCaps(
  { width, height, pixelAspect }: PlayableTrack,
  configuration: Uint8Array,
): string {
  const { numerator, denominator } = pixelAspect
  return [
    'alignment=au',
    `width=${width},height=${height},pixel-aspect-ratio=${numerator}/${denominator}`,
    `codec_data=(buffer)${Buffer.from(configuration).toString('hex')}`,
  ].join(',')
}
