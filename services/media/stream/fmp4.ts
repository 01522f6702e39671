import {
  box,
  fullBox,
  i32,
  TFHD_BASE_IS_MOOF,
  TIMESCALE,
  trackBox,
  UNITY_MATRIX,
  u16,
  u32,
  u64,
} from '@eyrie/kit/mp4-boxes'
import { displaySize } from '../gstreamer/picture.ts'
import { type SoundTrack, type SoundUnit, soundSampleEntry } from '../sound/sound-track.ts'
import { type PlayableTrack, videoSampleEntry } from './sample-entry.ts'

/** One coded picture in decoding order. Times in 90 kHz ticks of stream time. */
export interface AccessUnit {
  pts: number
  dts: number
  duration: number
  keyframe: boolean
  /** H.264 and H.265: NAL units, each behind its length, as the track's configuration says. */
  data: Uint8Array
}

const VIDEO = 1
const SOUND = 2
const TRUN_ALL_FIELDS = 0xf01
const SYNC_SAMPLE = 0x2000000
const NON_SYNC_SAMPLE = 0x1010000

/** ftyp and moov of a fragmented file with one video track, and maybe one with sound. */
export function initSegment(track: PlayableTrack, sound?: SoundTrack): Buffer {
  const tracks = [videoTrack(track), ...(sound ? [soundTrack(sound)] : [])]
  const extended = tracks.map((_, i) => fullBox('trex', 0, 0, u32(VIDEO + i, 1, 0, 0, 0)))
  return Buffer.concat([
    box('ftyp', Buffer.from('iso5'), u32(512), Buffer.from('iso5iso6mp41')),
    box('moov', movieHeader(), ...tracks, box('mvex', ...extended)),
  ])
}

/**
 * moof and mdat of access units that follow on each other; of a single one, nothing has to wait for the next. The
 * composition offset is signed (version 1 of trun).
 */
export function fragment(sequence: number, ...units: AccessUnit[]): Buffer {
  return fragmentOf(sequence, [{ track: VIDEO, units }])
}

/** The same of a piece of sound. */
export function soundFragment(sequence: number, unit: SoundUnit): Buffer {
  return fragmentOf(sequence, [{ track: SOUND, units: [asAccessUnit(unit)] }])
}

/** The same of pictures together with the sound of their time, if there is any. The sound lies behind the pictures. */
export function soundingFragment(
  sequence: number,
  units: readonly AccessUnit[],
  sounds: readonly SoundUnit[],
): Buffer {
  const sound = sounds.length > 0 ? [{ track: SOUND, units: sounds.map(asAccessUnit) }] : []
  return fragmentOf(sequence, [{ track: VIDEO, units }, ...sound])
}

const asAccessUnit = (unit: SoundUnit): AccessUnit => ({ ...unit, dts: unit.pts, keyframe: true })

/** What a fragment holds of one track. */
interface Run {
  track: number
  units: readonly AccessUnit[]
}

function fragmentOf(sequence: number, runs: readonly Run[]): Buffer {
  const data = runs.flatMap(({ units }) => units.map(unit => unit.data))
  const moofBytes = movieFragment(sequence, runs, 0).length
  const mdat = [u32(data.reduce((sum, { length }) => sum + length, 8)), Buffer.from('mdat'), ...data]
  return Buffer.concat([movieFragment(sequence, runs, moofBytes + 8), ...mdat])
}

function movieFragment(sequence: number, runs: readonly Run[], dataOffset: number): Buffer {
  let offset = dataOffset
  const trafs = runs.map(run => {
    const traf = trackFragment(run, offset)
    offset += run.units.reduce((sum, { data }) => sum + data.length, 0)
    return traf
  })
  return box('moof', fullBox('mfhd', 0, 0, u32(sequence)), ...trafs)
}

function trackFragment({ track, units }: Run, dataOffset: number): Buffer {
  const samples = units.flatMap(({ pts, dts, duration, keyframe, data }) => [
    u32(duration, data.length, keyframe ? SYNC_SAMPLE : NON_SYNC_SAMPLE),
    i32(pts - dts),
  ])
  return box(
    'traf',
    fullBox('tfhd', 0, TFHD_BASE_IS_MOOF, u32(track)),
    fullBox('tfdt', 1, 0, u64(units[0]!.dts)),
    fullBox('trun', 1, TRUN_ALL_FIELDS, u32(units.length, dataOffset), ...samples),
  )
}

function movieHeader(): Buffer {
  const rateAndVolume = [u32(0x10000), u16(0x100, 0), u32(0, 0)]
  const nextTrack = u32(SOUND + 1)
  return fullBox(
    'mvhd',
    0,
    0,
    u32(0, 0, TIMESCALE, 0),
    ...rateAndVolume,
    UNITY_MATRIX,
    u32(0, 0, 0, 0, 0, 0),
    nextTrack,
  )
}

function videoTrack(track: PlayableTrack): Buffer {
  const shown = displaySize(track)
  return trackBox(
    { id: VIDEO, handler: 'vide', name: 'video', volume: 0 },
    {
      size: u32(shown.width * 0x10000, shown.height * 0x10000),
      header: fullBox('vmhd', 0, 1, u16(0, 0, 0, 0)),
      entry: videoSampleEntry(track),
    },
  )
}

function soundTrack(track: SoundTrack): Buffer {
  const header = fullBox('smhd', 0, 0, u16(0, 0))
  const kind = { id: SOUND, handler: 'soun', name: 'sound', volume: 0x100 }
  return trackBox(kind, { size: u32(0, 0), header, entry: soundSampleEntry(track) })
}
