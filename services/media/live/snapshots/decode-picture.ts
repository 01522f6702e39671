import { EyrieError } from '@eyrie/contract'
import { softwareDecoder } from '../../decode/decoders.ts'
import { parsePicture } from '../../gstreamer/picture.ts'
import { Pipeline } from '../../node-gst/index.ts'
import type { CachedUnit, Track } from '../../stream/live-stream.ts'

/** A picture as JPEG, or its pixels as BGRx, four bytes each, row by row. */
export interface Decoded {
  data: Uint8Array<ArrayBuffer>
  pts: number
  /** In square pixels. */
  width: number
  height: number
}

const LIMIT_MS = 5_000
const JPEG_QUALITY = 85
const ENDINGS = {
  jpeg: `videoconvert ! jpegenc quality=${JPEG_QUALITY}`,
  pixels: 'videoconvert ! video/x-raw,format=BGRx',
}

/** The last of these units, for which all of them are needed. Throws EyrieError `unavailable`. */
export async function decodePicture(
  track: Track,
  units: readonly CachedUnit[],
  form: keyof typeof ENDINGS,
  width?: number,
): Promise<Decoded> {
  const wanted = units[units.length - 1]!.pts
  const begin = Math.min(...units.map(unit => unit.pts))
  return once(decodeLaunch(track, form, width), (pipeline, done) => {
    pipeline.set('input', 'caps', capsOf(track))
    pipeline.setTimeline({ ptsOffset: begin })
    pipeline.samples('output', { queue: 1, full: 'block' }, sample => {
      const picture = sample.caps && parsePicture(sample.caps)
      if (picture) size = { width: picture.width, height: picture.height }
      if (sample.pts === wanted) done({ data: Uint8Array.from(sample.data), pts: wanted, ...size })
      sample.release()
    })
    let size = { width: 0, height: 0 }
    return () => {
      for (const unit of units) {
        const ptsNs = Math.round(((unit.pts - begin) * 100_000) / 9)
        pipeline.push('input', unit.data, { ptsNs, decodeOnly: unit.pts !== wanted })
      }
    }
  })
}

/** Pixels as `decodePicture` gives them, as JPEG, with a drawing over them where there is one. */
export async function encodePicture(picture: Decoded, svg: string | undefined): Promise<Decoded> {
  const { width, height, pts } = picture
  const caps = `video/x-raw,format=BGRx,width=${width},height=${height},framerate=1/1`
  const overlay = svg === undefined ? '' : '! videoconvert ! rsvgoverlay name=overlay'
  const launch = `appsrc name=input format=time max-bytes=0 caps="${caps}" ${overlay} ! ${ENDINGS.jpeg}`
  return once(launch, (pipeline, done) => {
    if (svg !== undefined) pipeline.set('overlay', 'data', svg)
    pipeline.samples('output', { queue: 1, full: 'block' }, sample => {
      done({ data: Uint8Array.from(sample.data), pts, width, height })
      sample.release()
    })
    return () => void pipeline.push('input', picture.data, { ptsNs: 0 })
  })
}

/** Runs a pipeline from an appsrc `input` to an appsink `output` until it has given one picture. */
async function once(
  launch: string,
  prepare: (pipeline: Pipeline, done: (picture: Decoded) => void) => () => void,
): Promise<Decoded> {
  const { promise, resolve, reject } = Promise.withResolvers<Decoded>()
  const fail = (reason: string) =>
    reject(new EyrieError('unavailable', `the picture cannot be decoded: ${reason}`))
  const pipeline = new Pipeline(`${launch} ! appsink name=output sync=false async=false`, message => {
    if (message.type === 'error') fail(message.error.message)
    if (message.type === 'eos') fail('it is not whole')
  })
  const limit = setTimeout(() => fail('it takes too long'), LIMIT_MS)
  try {
    const feed = prepare(pipeline, resolve)
    // What fails while it starts, or takes too long, is heard of here: nobody would take the rejection else.
    await Promise.race([pipeline.setState('playing'), promise])
    feed()
    pipeline.endOfStream('input')
    return await promise
  } finally {
    clearTimeout(limit)
    await pipeline.dispose()
  }
}

function decodeLaunch(track: Track, form: keyof typeof ENDINGS, width: number | undefined): string {
  const codec = 'avcC' in track ? 'h264' : 'hvcC' in track ? 'h265' : track.codec
  return [
    'appsrc name=input format=time max-bytes=0',
    softwareDecoder(codec),
    `videoscale ! video/x-raw,pixel-aspect-ratio=1/1${width === undefined ? '' : `,width=${width}`}`,
    ENDINGS[form],
  ].join(' ! ')
}

function capsOf(track: Track): string {
  if ('caps' in track) return track.caps
  const { width, height, pixelAspect } = track
  const [form, configuration] =
    'avcC' in track
      ? ['video/x-h264,stream-format=avc', track.avcC]
      : ['video/x-h265,stream-format=hvc1', track.hvcC]
  const shape = `width=${width},height=${height},pixel-aspect-ratio=${pixelAspect.numerator}/${pixelAspect.denominator}`
  return `${form},alignment=au,${shape},codec_data=(buffer)${Buffer.from(configuration).toString('hex')}`
}
