import { AUXILIARY } from '../gstreamer/auxiliary-elements.ts'
import type { Caps, GstError, Pipeline } from '../node-gst/index.ts'

/** A sound format: its caps at the source and the elements that turn it into packets. */
type Format = readonly [caps: string, ...elements: string[]]

const AAC = ['aacparse', 'audio/mpeg,stream-format=raw'] as const
const toRtpCaps = (encoding: string) => `application/x-rtp,media=audio,encoding-name=${encoding}`

/** Formats of RTSP cameras. */
const RTP_FORMATS: readonly Format[] = [
  [toRtpCaps('MPEG4-GENERIC'), 'rtpmp4gdepay', ...AAC],
  [toRtpCaps('MP4A-LATM'), 'rtpmp4adepay', ...AAC],
  [toRtpCaps('PCMU'), 'rtppcmudepay'],
  [toRtpCaps('PCMA'), 'rtppcmadepay'],
  [toRtpCaps('OPUS'), 'rtpopusdepay', 'opusparse'],
  [toRtpCaps('L16'), 'rtpL16depay'],
]

/** Formats of files and HTTP sources. */
const PARSED_FORMATS: readonly Format[] = [
  ['audio/mpeg,mpegversion=4', ...AAC],
  ['audio/mpeg,mpegversion=1', 'mpegaudioparse'],
  ['audio/x-mulaw', 'identity'],
  ['audio/x-alaw', 'identity'],
  ['audio/x-opus', 'opusparse'],
  ['audio/x-raw', 'identity'],
]

const PREFIX = `${AUXILIARY}sound`
const toTeeName = (index: number) => `${PREFIX}-${index}`
const toElementName = (index: number, suffix: string | number) => `${toTeeName(index)}-${suffix}`

/** Launch string of branches from the element `origin` that accept every known RTP format. Unused branches cost nothing. */
export const createRtpSoundElements = (origin: string) => createBranches(origin, RTP_FORMATS)

/** The same for a demuxer or decodebin. */
export const createParsedSoundElements = (origin: string) => createBranches(origin, PARSED_FORMATS)

/** Each branch ends in a tee. A tee is not a sink, so the pipeline does not wait for formats that never arrive. */
function createBranches(origin: string, formats: readonly Format[]): string {
  const branches = formats.map(([caps, ...elements], index) => {
    const name = (suffix: string | number) => `name=${toElementName(index, suffix)}`
    const named = elements.map((element, i) => (element.includes('/') ? element : `${element} ${name(i)}`))
    const filter = `capsfilter ${name('caps')} caps="${caps}" ! errorignore ${name('guard')} convert-to=ok`
    return `${origin}. ! ${[filter, ...named, `tee name=${toTeeName(index)} allow-not-linked=true`].join(' ! ')}`
  })
  return branches.join(' ')
}

/** Finds the tee that receives sound, with its caps and the first element of the branch: for RTP, the depayloader. */
export function findSound(pipeline: Pipeline): { tee: string; caps: Caps; depayloader: string } | undefined {
  for (let index = 0; index < Math.max(RTP_FORMATS.length, PARSED_FORMATS.length); index++) {
    const tee = toTeeName(index)
    const caps = pipeline.caps(tee, 'sink')
    if (caps) return { tee, caps, depayloader: toElementName(index, 0) }
  }
  return undefined
}

/** FFmpeg's name of the codec. */
export function toCodecName({ name, fields }: Caps): string {
  if (name === 'audio/mpeg') return fields.mpegversion === 1 ? `mp${fields.layer}` : 'aac'
  return CODEC_NAMES[name] ?? name
}

const CODEC_NAMES: Record<string, string> = {
  'audio/x-alaw': 'pcm_alaw',
  'audio/x-mulaw': 'pcm_mulaw',
  'audio/x-opus': 'opus',
  'audio/x-raw': 'pcm',
}

/** Whether a warning only reports a format that the source does not have. */
export const isMissingSoundWarning = (warning: GstError) => (warning.debug ?? '').includes(PREFIX)
