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
import { createSoundSampleEntry, type SoundTrack, type SoundUnit } from '../sound/sound-track.ts'
import { createVideoSampleEntry, type PlayableTrack } from './sample-entry.ts'

/** One coded picture in decoding order. Times in 90 kHz ticks of stream time. */
export interface AccessUnit {
  pts: number
  dts: number
  duration: number
  keyframe: boolean
  /** H.264 and H.265: length-prefixed NAL units. The track's configuration has the size of the prefix. */
  data: Uint8Array
}

const VIDEO = 1
const SOUND = 2
const TRUN_ALL_FIELDS = 0xf01
const SYNC_SAMPLE = 0x2000000
const NON_SYNC_SAMPLE = 0x1010000

/** Creates the ftyp and moov boxes of a fragmented file with a video track and, optionally, a sound track. */
export function createInitSegment(track: PlayableTrack, sound?: SoundTrack): Buffer {
  const tracks = [createVideoTrack(track)]
  if (sound) tracks.push(createSoundTrack(sound))
  const trexBoxes = tracks.map((_, i) => fullBox('trex', 0, 0, u32(VIDEO + i, 1, 0, 0, 0)))
  return Buffer.concat([
    box('ftyp', Buffer.from('iso5'), u32(512), Buffer.from('iso5iso6mp41')),
    box('moov', createMovieHeader(), ...tracks, box('mvex', ...trexBoxes)),
  ])
}

/**
 * Creates the moof and mdat boxes of consecutive access units. Composition offsets are signed (version 1 of trun), so a unit
 * need not wait for the next one.
 */
export function createVideoFragment(sequence: number, ...units: AccessUnit[]): Buffer {
  return createFragment(sequence, [{ track: VIDEO, units }])
}

/** Creates the moof and mdat boxes of one sound unit. */
export function createSoundFragment(sequence: number, unit: SoundUnit): Buffer {
  return createFragment(sequence, [{ track: SOUND, units: [toAccessUnit(unit)] }])
}

/** Creates a fragment with pictures and their sound, which may be empty. The sound follows the pictures in the mdat. */
export function createInterleavedFragment(
  sequence: number,
  units: readonly AccessUnit[],
  sounds: readonly SoundUnit[],
): Buffer {
  const sound = sounds.length > 0 ? [{ track: SOUND, units: sounds.map(toAccessUnit) }] : []
  return createFragment(sequence, [{ track: VIDEO, units }, ...sound])
}

const toAccessUnit = (unit: SoundUnit): AccessUnit => ({ ...unit, dts: unit.pts, keyframe: true })

/** The units of one track in a fragment. */
interface TrackRun {
  track: number
  units: readonly AccessUnit[]
}

function createFragment(sequence: number, runs: readonly TrackRun[]): Buffer {
  const data = runs.flatMap(({ units }) => units.map(unit => unit.data))
  const moofBytes = createMoof(sequence, runs, 0).length
  const mdat = [u32(data.reduce((sum, { length }) => sum + length, 8)), Buffer.from('mdat'), ...data]
  return Buffer.concat([createMoof(sequence, runs, moofBytes + 8), ...mdat])
}

function createMoof(sequence: number, runs: readonly TrackRun[], dataOffset: number): Buffer {
  let offset = dataOffset
  const trafs = runs.map(run => {
    const traf = createTraf(run, offset)
    offset += run.units.reduce((sum, { data }) => sum + data.length, 0)
    return traf
  })
  return box('moof', fullBox('mfhd', 0, 0, u32(sequence)), ...trafs)
}

function createTraf({ track, units }: TrackRun, dataOffset: number): Buffer {
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

function createMovieHeader(): Buffer {
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

function createVideoTrack(track: PlayableTrack): Buffer {
  const shown = displaySize(track)
  return trackBox(
    { id: VIDEO, handler: 'vide', name: 'video', volume: 0 },
    {
      size: u32(shown.width * 0x10000, shown.height * 0x10000),
      header: fullBox('vmhd', 0, 1, u16(0, 0, 0, 0)),
      entry: createVideoSampleEntry(track),
    },
  )
}

function createSoundTrack(track: SoundTrack): Buffer {
  const header = fullBox('smhd', 0, 0, u16(0, 0))
  const kind = { id: SOUND, handler: 'soun', name: 'sound', volume: 0x100 }
  return trackBox(kind, { size: u32(0, 0), header, entry: createSoundSampleEntry(track) })
}
