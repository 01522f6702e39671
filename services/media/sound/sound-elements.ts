import { AUXILIARY } from '../gstreamer/auxiliary-elements.ts'
import type { Caps, GstError, Pipeline } from '../node-gst/index.ts'

/** A sound format of a source. */
interface SoundFormat {
  /** The caps of the sound at the source. */
  caps: string
  /** Elements that convert the sound to packets, as launch strings. */
  elements: readonly string[]
}

/** A list of as many items as `List`. */
type SameLength<List extends readonly unknown[], Item> = { readonly [Index in keyof List]: Item }

const AAC_PARSER = ['aacparse', 'audio/mpeg,stream-format=raw'] as const
/** Begins the name of every element of a sound branch. */
const NAME_PREFIX = `${AUXILIARY}sound`
const toRtpCaps = (encoding: string) => `application/x-rtp,media=audio,encoding-name=${encoding}`

/** Formats that RTSP cameras send. */
const RTP_FORMATS = [
  { caps: toRtpCaps('MPEG4-GENERIC'), elements: ['rtpmp4gdepay', ...AAC_PARSER] },
  { caps: toRtpCaps('MP4A-LATM'), elements: ['rtpmp4adepay', ...AAC_PARSER] },
  { caps: toRtpCaps('PCMU'), elements: ['rtppcmudepay'] },
  { caps: toRtpCaps('PCMA'), elements: ['rtppcmadepay'] },
  { caps: toRtpCaps('OPUS'), elements: ['rtpopusdepay', 'opusparse'] },
  { caps: toRtpCaps('L16'), elements: ['rtpL16depay'] },
] as const satisfies readonly SoundFormat[]

/** Formats of files and HTTP sources. */
const PARSED_FORMATS: SameLength<typeof RTP_FORMATS, SoundFormat> = [
  { caps: 'audio/mpeg,mpegversion=4', elements: AAC_PARSER },
  { caps: 'audio/mpeg,mpegversion=1', elements: ['mpegaudioparse'] },
  { caps: 'audio/x-mulaw', elements: ['identity'] },
  { caps: 'audio/x-alaw', elements: ['identity'] },
  { caps: 'audio/x-opus', elements: ['opusparse'] },
  { caps: 'audio/x-raw', elements: ['identity'] },
]

const toTeeName = (branch: number) => `${NAME_PREFIX}-${branch}`
const toElementName = (branch: number, suffix: string | number) => `${toTeeName(branch)}-${suffix}`

/**
 * Returns the launch string of an element with a name. Caps, such as `audio/mpeg`, cannot have a
 * name.
 */
export const nameElement = (element: string, name: string): string =>
  element.includes('/') ? element : `${element} name=${name}`

/**
 * Returns the GStreamer elements (as a launch string) that receive the sound of an RTSP
 * camera. They have one branch for every known RTP format from the element `origin`. Unused
 * branches cost nothing.
 */
export const createRtpSoundElements = (origin: string) => createBranches(origin, RTP_FORMATS)

/**
 * Like `createRtpSoundElements`, for the sound that a demuxer or parser named `origin` has found in
 * a file or HTTP stream.
 */
export const createParsedSoundElements = (origin: string) => createBranches(origin, PARSED_FORMATS)

/**
 * Each branch ends in a tee. Unlike a sink, a tee does not make the pipeline wait for
 * formats that never arrive.
 */
function createBranches(origin: string, formats: readonly SoundFormat[]): string {
  const branches = formats.map(({ caps, elements }, branch) => {
    const toName = (suffix: string | number) => toElementName(branch, suffix)
    return [
      `${origin}.`,
      `capsfilter name=${toName('caps')} caps="${caps}"`,
      `errorignore name=${toName('guard')} convert-to=ok`,
      ...elements.map((element, position) => nameElement(element, toName(position))),
      `tee name=${toTeeName(branch)} allow-not-linked=true`,
    ].join(' ! ')
  })
  return branches.join(' ')
}

/**
 * Finds the branch that receives sound: its tee, its caps and its first element, which is the
 * depayloader for RTP.
 */
export function findSound(
  pipeline: Pipeline,
): { tee: string; caps: Caps; depayloader: string } | undefined {
  // All pipelines with sound have the same number of branches: see `PARSED_FORMATS`.
  for (const branch of RTP_FORMATS.keys()) {
    const tee = toTeeName(branch)
    const caps = pipeline.caps(tee, 'sink')
    if (caps) return { tee, caps, depayloader: toElementName(branch, 0) }
  }
  return undefined
}

const CODEC_NAMES: Record<string, string> = {
  'audio/x-alaw': 'pcm_alaw',
  'audio/x-mulaw': 'pcm_mulaw',
  'audio/x-opus': 'opus',
  'audio/x-raw': 'pcm',
}

/** Returns FFmpeg's name of the codec. */
export function toCodecName({ name, fields }: Caps): string {
  if (name === 'audio/mpeg') return fields.mpegversion === 1 ? `mp${fields.layer}` : 'aac'
  return CODEC_NAMES[name] ?? name
}

/**
 * Whether a warning comes from an unused branch, because the source does not have
 * sound in this format.
 */
export const isMissingSoundWarning = (warning: GstError) =>
  (warning.debug ?? '').includes(NAME_PREFIX)
