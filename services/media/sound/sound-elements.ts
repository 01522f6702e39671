import { AUXILIARY } from '../gstreamer/auxiliary-elements.ts'
import type { Caps, GstError, Pipeline } from '../node-gst/index.ts'

/** Sound of one kind: its caps where it leaves the source, and what makes packets of it. */
type Kind = readonly [caps: string, ...elements: string[]]

const AAC = ['aacparse', 'audio/mpeg,stream-format=raw'] as const
const rtp = (encoding: string) => `application/x-rtp,media=audio,encoding-name=${encoding}`

/** What cameras send. */
const RTP: readonly Kind[] = [
  [rtp('MPEG4-GENERIC'), 'rtpmp4gdepay', ...AAC],
  [rtp('MP4A-LATM'), 'rtpmp4adepay', ...AAC],
  [rtp('PCMU'), 'rtppcmudepay'],
  [rtp('PCMA'), 'rtppcmadepay'],
  [rtp('OPUS'), 'rtpopusdepay', 'opusparse'],
  [rtp('L16'), 'rtpL16depay'],
]

/** What files and HTTP bring. */
const PARSED: readonly Kind[] = [
  ['audio/mpeg,mpegversion=4', ...AAC],
  ['audio/mpeg,mpegversion=1', 'mpegaudioparse'],
  ['audio/x-mulaw', 'identity'],
  ['audio/x-alaw', 'identity'],
  ['audio/x-opus', 'opusparse'],
  ['audio/x-raw', 'identity'],
]

const NAME = `${AUXILIARY}sound`
const teeOf = (index: number) => `${NAME}-${index}`
const elementOf = (index: number, what: string | number) => `${teeOf(index)}-${what}`

/** Elements that take sound from where `origin` gives it away. What never comes costs nothing. */
export const createRtpSoundElements = (origin: string) => soundElements(origin, RTP)
export const createParsedSoundElements = (origin: string) => soundElements(origin, PARSED)

/** A tee to each kind: it is no sink, so nothing waits for sound that there is not. */
function soundElements(origin: string, kinds: readonly Kind[]): string {
  const chains = kinds.map(([caps, ...elements], index) => {
    const name = (what: string | number) => `name=${elementOf(index, what)}`
    const named = elements.map((element, i) => (element.includes('/') ? element : `${element} ${name(i)}`))
    const filter = `capsfilter ${name('caps')} caps="${caps}" ! errorignore ${name('guard')} convert-to=ok`
    return `${origin}. ! ${[filter, ...named, `tee name=${teeOf(index)} allow-not-linked=true`].join(' ! ')}`
  })
  return chains.join(' ')
}

/** The tee that sound comes to, what it is, and what has taken it out of RTP if it came by that, once there is any. */
export function findSound(pipeline: Pipeline): { tee: string; caps: Caps; depayloader: string } | undefined {
  for (let index = 0; index < Math.max(RTP.length, PARSED.length); index++) {
    const caps = pipeline.caps(teeOf(index), 'sink')
    if (caps) return { tee: teeOf(index), caps, depayloader: elementOf(index, 0) }
  }
  return undefined
}

/** What is at a tee, as FFmpeg calls it. */
export function toCodecName({ name, fields }: Caps): string {
  if (name === 'audio/mpeg') return fields.mpegversion === 1 ? `mp${fields.layer}` : 'aac'
  return NAMES[name] ?? name
}

const NAMES: Record<string, string> = {
  'audio/x-alaw': 'pcm_alaw',
  'audio/x-mulaw': 'pcm_mulaw',
  'audio/x-opus': 'opus',
  'audio/x-raw': 'pcm',
}

/** Whether a warning says only that there is no sound of some kind. */
export const isMissingSoundWarning = (warning: GstError) => (warning.debug ?? '').includes(NAME)
