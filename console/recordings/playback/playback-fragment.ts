import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'

/** A part of a playback, with times in 90 kHz ticks of it. */
export interface RecordedFragment {
  bytes: Uint8Array<ArrayBuffer>
  /** When each of its pictures is shown, in the order of showing; empty for the initialisation segment. */
  pictures: number[]
  /** At which of these times decoding may begin; undefined where it needs what came before. */
  keyframe: boolean
  /** ms since 1970 at time 0 of the playback, as far as this fragment knows. */
  originMs: number
}

const HEADER_BYTES = 8
/** From 1900, where NTP begins, to 1970. */
const NTP_EPOCH_S = 2_208_988_800
/** NTP's seconds begin again in 2036: what would lie before 1968 is of the time after that (RFC 4330, section 3). */
const NTP_ERA_S = 2 ** 32
const VIDEO = 1
const IS_NON_SYNC_SAMPLE = 0x10000
const SAMPLE_BYTES = 16

/** Takes a playback as it comes, and hands it over in whole fragments. */
export function createFragmentReader(): (chunk: Uint8Array) => RecordedFragment[] {
  let rest = new Uint8Array()
  return chunk => {
    const all = new Uint8Array(rest.length + chunk.length)
    all.set(rest)
    all.set(chunk, rest.length)
    const fragments: RecordedFragment[] = []
    let begin = 0
    for (const { type, end } of boxesIn(all, 0, all.length)) {
      if (type !== 'moov' && type !== 'mdat') continue
      fragments.push(read(all.slice(begin, end)))
      begin = end
    }
    rest = all.slice(begin)
    return fragments
  }
}

interface Box {
  type: string
  /** Of its payload, and behind it. */
  from: number
  end: number
}

/** The whole boxes from here on. */
function* boxesIn(bytes: Uint8Array, from: number, to: number): Generator<Box> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = from; at + HEADER_BYTES <= to; ) {
    const size = view.getUint32(at)
    if (size < HEADER_BYTES || at + size > to) return
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + HEADER_BYTES))
    yield { type, from: at + HEADER_BYTES, end: at + size }
    at += size
  }
}

function read(bytes: Uint8Array<ArrayBuffer>): RecordedFragment {
  const view = new DataView(bytes.buffer)
  const boxes = [...boxesIn(bytes, 0, bytes.length)]
  const inside = (box: Box | undefined, type: string) =>
    box && [...boxesIn(bytes, box.from, box.end)].filter(each => each.type === type)
  const moof = boxes.find(({ type }) => type === 'moof')
  const traf = inside(moof, 'traf')?.find(each => {
    const [tfhd] = inside(each, 'tfhd') ?? []
    return tfhd && view.getUint32(tfhd.from + 4) === VIDEO
  })
  const prft = boxes.find(({ type }) => type === 'prft')
  const [tfdt] = inside(traf, 'tfdt') ?? []
  const [trun] = inside(traf, 'trun') ?? []
  const originMs = prft ? originOf(view, prft.from) : Number.NaN
  return tfdt && trun
    ? { bytes, originMs, ...picturesOf(view, tfdt.from, trun.from) }
    : { bytes, originMs, pictures: [], keyframe: false }
}

/** ProducerReferenceTimeBox: a moment, and the media time that was captured then. */
function originOf(view: DataView, at: number): number {
  const told = view.getUint32(at + 8)
  const whole = told + (told < NTP_ERA_S / 2 ? NTP_ERA_S : 0) - NTP_EPOCH_S
  const seconds = whole + view.getUint32(at + 12) / 2 ** 32
  return (seconds - Number(view.getBigUint64(at + 16)) / TICKS_PER_SECOND) * 1000
}

/** Of a run in which each sample has all fields: duration, size, flags, composition offset. */
function picturesOf(view: DataView, tfdt: number, trun: number) {
  let dts = Number(view.getBigUint64(tfdt + 4))
  const pictures = Array.from({ length: view.getUint32(trun + 4) }, (_, i) => {
    const at = trun + 12 + i * SAMPLE_BYTES
    const pts = dts + view.getInt32(at + 12)
    dts += view.getUint32(at)
    return pts
  })
  const keyframe = (view.getUint32(trun + 20) & IS_NON_SYNC_SAMPLE) === 0
  return { pictures: pictures.sort((a, b) => a - b), keyframe }
}
