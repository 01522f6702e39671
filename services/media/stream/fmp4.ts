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

/**
 * A coded picture or sound unit, in decoding order, for packaging as fragmented MP4 (ISO/IEC
 * 14496-12). Times are in 90 kHz ticks of stream time.
 */
export interface AccessUnit {
  pts: number
  dts: number
  duration: number
  keyframe: boolean
  /**
   * H.264 and H.265: NAL units, each after its length. The size of the length field is in the
   * track's configuration.
   */
  data: Uint8Array
}

const VIDEO_TRACK_ID = 1
const SOUND_TRACK_ID = 2
/** The number 1 as a 16.16 fixed-point number. */
const FIXED_POINT_ONE = 0x10000
/** The largest whole number of pixels in the track header, which has 16 bits for it. */
const MAX_SHOWN_WIDTH = 0xffff
/** Full volume as an 8.8 fixed-point number. */
const FULL_VOLUME = 0x100
/**
 * Flags of a `trun` box with a data offset, and duration, size, flags and composition
 * offset of each sample.
 */
const TRUN_ALL_FIELDS = 0xf01
/** Sample flags (ISO/IEC 14496-12, 8.8.3.1). */
const SYNC_SAMPLE = 0x2000000
const NON_SYNC_SAMPLE = 0x1010000
const BOX_HEADER_BYTES = 8

/**
 * Creates the ftyp and moov boxes of a fragmented file with a video track and,
 * optionally, a sound track.
 */
export function createInitSegment(track: PlayableTrack, sound?: SoundTrack): Buffer {
  const tracks = [createVideoTrack(track)]
  const fragmented = [createTrackExtends(VIDEO_TRACK_ID)]
  if (sound) {
    tracks.push(createSoundTrack(sound))
    fragmented.push(createTrackExtends(SOUND_TRACK_ID))
  }

  const majorBrand = Buffer.from('iso5')
  const minorVersion = u32(512)
  const compatibleBrands = Buffer.from('iso5iso6mp41')
  return Buffer.concat([
    box('ftyp', majorBrand, minorVersion, compatibleBrands),
    box('moov', createMovieHeader(), ...tracks, box('mvex', ...fragmented)),
  ])
}

/**
 * Creates the `trex` box, which declares that a track is in fragments. Its default duration, size
 * and flags of samples are 0 and not used, because every fragment has its own.
 */
function createTrackExtends(trackId: number): Buffer {
  const sampleDescription = 1
  return fullBox('trex', 0, 0, u32(trackId, sampleDescription, 0, 0, 0))
}

/**
 * Creates the moof and mdat boxes of consecutive pictures. Composition offsets are signed (version
 * 1 of `trun`), so that a picture can be sent before the next one is known.
 */
export function createVideoFragment(sequence: number, ...units: AccessUnit[]): Buffer {
  return createFragment(sequence, [{ track: VIDEO_TRACK_ID, units }])
}

/** Creates the moof and mdat boxes of one sound unit. */
export function createSoundFragment(sequence: number, unit: SoundUnit): Buffer {
  return createFragment(sequence, [{ track: SOUND_TRACK_ID, units: [toAccessUnit(unit)] }])
}

/**
 * Creates a fragment with pictures and optional sound. The sound follows the pictures in the mdat.
 */
export function createInterleavedFragment(
  sequence: number,
  units: readonly AccessUnit[],
  sounds: readonly SoundUnit[],
): Buffer {
  const sound =
    sounds.length > 0 ? [{ track: SOUND_TRACK_ID, units: sounds.map(toAccessUnit) }] : []
  return createFragment(sequence, [{ track: VIDEO_TRACK_ID, units }, ...sound])
}

const toAccessUnit = (unit: SoundUnit): AccessUnit => ({ ...unit, dts: unit.pts, keyframe: true })

/** The units of one track in a fragment. */
interface TrackRun {
  track: number
  units: readonly AccessUnit[]
}

function createFragment(sequence: number, runs: readonly TrackRun[]): Buffer {
  const data = runs.flatMap(({ units }) => units.map(unit => unit.data))
  const mdatBytes = data.reduce((sum, { length }) => sum + length, BOX_HEADER_BYTES)

  // The moof contains the offset of the data, which depends on the length of the moof. The length
  // does not depend on the offset.
  const moofBytes = createMoof(sequence, runs, 0).length
  const moof = createMoof(sequence, runs, moofBytes + BOX_HEADER_BYTES)
  return Buffer.concat([moof, u32(mdatBytes), Buffer.from('mdat'), ...data])
}

/**
 * Creates the `moof` box, the index of a fragment. `dataOffset` is the offset of the first unit
 * from the beginning of the box.
 */
function createMoof(sequence: number, runs: readonly TrackRun[], dataOffset: number): Buffer {
  let offset = dataOffset
  const trafs = runs.map(run => {
    const traf = createTraf(run, offset)
    offset += run.units.reduce((sum, { data }) => sum + data.length, 0)
    return traf
  })
  return box('moof', fullBox('mfhd', 0, 0, u32(sequence)), ...trafs)
}

/** Creates the `traf` box, which describes the units of one track. */
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
  // The duration of a fragmented file is unknown.
  const timesAndDuration = u32(0, 0, TIMESCALE, 0)
  const rate = u32(FIXED_POINT_ONE)
  const volumeAndReserved = [u16(FULL_VOLUME, 0), u32(0, 0)]
  const predefined = u32(0, 0, 0, 0, 0, 0)
  const nextTrack = u32(SOUND_TRACK_ID + 1)
  return fullBox(
    'mvhd',
    0,
    0,
    timesAndDuration,
    rate,
    ...volumeAndReserved,
    UNITY_MATRIX,
    predefined,
    nextTrack,
  )
}

function createVideoTrack(track: PlayableTrack): Buffer {
  const shown = displaySize(track)
  // A camera may declare any pixel aspect ratio, so that the display size exceeds the field.
  const shownWidth = Math.min(shown.width, MAX_SHOWN_WIDTH)
  return trackBox(
    { id: VIDEO_TRACK_ID, handler: 'vide', name: 'video', volume: 0 },
    {
      size: u32(shownWidth * FIXED_POINT_ONE, shown.height * FIXED_POINT_ONE),
      header: fullBox('vmhd', 0, 1, u16(0, 0, 0, 0)),
      entry: createVideoSampleEntry(track),
    },
  )
}

function createSoundTrack(track: SoundTrack): Buffer {
  const header = fullBox('smhd', 0, 0, u16(0, 0))
  const kind = { id: SOUND_TRACK_ID, handler: 'soun', name: 'sound', volume: FULL_VOLUME }
  return trackBox(kind, { size: u32(0, 0), header, entry: createSoundSampleEntry(track) })
}
