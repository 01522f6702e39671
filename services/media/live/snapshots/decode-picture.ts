import { EyrieError } from '@eyrie/contract'
import { softwareDecoder } from '../../decode/decoders.ts'
import { parsePicture } from '../../gstreamer/picture.ts'
import { Pipeline } from '../../node-gst/index.ts'
import type { StreamUnit, Track } from '../../stream/live-stream.ts'

/** A picture as JPEG or as BGRx pixels (four bytes each, packed rows). */
export interface DecodedPicture {
  data: Uint8Array<ArrayBuffer>
  pts: number
  /** In square pixels. */
  width: number
  height: number
}

const TIMEOUT_MS = 5_000
const JPEG_QUALITY = 85
const OUTPUTS = {
  jpeg: `videoconvert ! jpegenc quality=${JPEG_QUALITY}`,
  pixels: 'videoconvert ! video/x-raw,format=BGRx',
}

/** Decodes the last of `units`, which start with a keyframe. Throws `EyrieError` (`unavailable`). */
export async function decodePicture(
  track: Track,
  units: readonly StreamUnit[],
  output: keyof typeof OUTPUTS,
  width?: number,
): Promise<DecodedPicture> {
  const targetPts = units[units.length - 1]!.pts
  const firstPts = Math.min(...units.map(unit => unit.pts))
  return runPipeline(createDecodeLaunch(track, output, width), (pipeline, done) => {
    let size = { width: 0, height: 0 }
    pipeline.set('input', 'caps', createCaps(track))
    pipeline.setTimeline({ ptsOffset: firstPts })
    pipeline.samples('output', { queue: 1, full: 'block' }, sample => {
      const picture = sample.caps && parsePicture(sample.caps)
      if (picture) size = { width: picture.width, height: picture.height }
      if (sample.pts === targetPts) done({ data: Uint8Array.from(sample.data), pts: targetPts, ...size })
      sample.release()
    })
    return () => {
      for (const unit of units) {
        const ptsNs = Math.round(((unit.pts - firstPts) * 100_000) / 9)
        pipeline.push('input', unit.data, { ptsNs, decodeOnly: unit.pts !== targetPts })
      }
    }
  })
}

/** Encodes pixels from `decodePicture` as JPEG, optionally with a drawing. Throws `EyrieError` (`unavailable`). */
export async function encodePicture(
  picture: DecodedPicture,
  svg: string | undefined,
): Promise<DecodedPicture> {
  const { width, height, pts } = picture
  const caps = `video/x-raw,format=BGRx,width=${width},height=${height},framerate=1/1`
  const overlay = svg === undefined ? '' : '! videoconvert ! rsvgoverlay name=overlay'
  const launch = `appsrc name=input format=time max-bytes=0 caps="${caps}" ${overlay} ! ${OUTPUTS.jpeg}`
  return runPipeline(launch, (pipeline, done) => {
    if (svg !== undefined) pipeline.set('overlay', 'data', svg)
    pipeline.samples('output', { queue: 1, full: 'block' }, sample => {
      done({ data: Uint8Array.from(sample.data), pts, width, height })
      sample.release()
    })
    return () => void pipeline.push('input', picture.data, { ptsNs: 0 })
  })
}

/**
 * Runs a pipeline from an appsrc `input` to an appsink `output`. `prepare` registers its sample handler and returns the function
 * that pushes the input once the pipeline plays.
 */
async function runPipeline(
  launch: string,
  prepare: (pipeline: Pipeline, done: (picture: DecodedPicture) => void) => () => void,
): Promise<DecodedPicture> {
  const { promise, resolve, reject } = Promise.withResolvers<DecodedPicture>()
  const fail = (reason: string) =>
    reject(new EyrieError('unavailable', `the picture cannot be decoded: ${reason}`))
  const pipeline = new Pipeline(`${launch} ! appsink name=output sync=false async=false`, message => {
    if (message.type === 'error') fail(message.error.message)
    if (message.type === 'eos') fail('it is incomplete')
  })
  const timeout = setTimeout(() => fail(`it takes longer than ${TIMEOUT_MS} ms`), TIMEOUT_MS)
  try {
    const pushInput = prepare(pipeline, resolve)
    // The race also handles a rejection of `promise` during the start, which would be unhandled otherwise.
    await Promise.race([pipeline.setState('playing'), promise])
    pushInput()
    pipeline.endOfStream('input')
    return await promise
  } finally {
    clearTimeout(timeout)
    await pipeline.dispose()
  }
}

function createDecodeLaunch(track: Track, output: keyof typeof OUTPUTS, width: number | undefined): string {
  const codec = 'avcC' in track ? 'h264' : 'hvcC' in track ? 'h265' : track.codec
  return [
    'appsrc name=input format=time max-bytes=0',
    softwareDecoder(codec),
    `videoscale ! video/x-raw,pixel-aspect-ratio=1/1${width === undefined ? '' : `,width=${width}`}`,
    OUTPUTS[output],
  ].join(' ! ')
}

function createCaps(track: Track): string {
  if ('caps' in track) return track.caps
  const { width, height, pixelAspect } = track
  const [format, configuration] =
    'avcC' in track
      ? ['video/x-h264,stream-format=avc', track.avcC]
      : ['video/x-h265,stream-format=hvc1', track.hvcC]
  const shape = `width=${width},height=${height},pixel-aspect-ratio=${pixelAspect.numerator}/${pixelAspect.denominator}`
  return `${format},alignment=au,${shape},codec_data=(buffer)${Buffer.from(configuration).toString('hex')}`
}
