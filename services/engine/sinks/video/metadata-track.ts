import { box, fullBox, TFHD_BASE_IS_MOOF, trackBox, u16, u32, u64 } from '@eyrie/kit/mp4-boxes'
import { findBox, parseBoxes } from './mp4-segments.ts'

/**
 * Records the results of a channel, such as detected objects, as a track of timed metadata next to
 * the video track (ISO/IEC 14496-12, 12.3). Each sample is a JSON text: the sample entry is `mett`
 * with the type application/json. The track refers to the video track that it describes (`cdsc`).
 * Section numbers below are those of the standard.
 */

const VIDEO_TRACK = 1
const METADATA_TRACK = 2
/** Flags of `trun` (8.8.8): the fields data offset, sample duration and sample size are present. */
const TRUN_OFFSET_DURATION_SIZE = 0x301
const SAMPLE_COUNT = 1
/** Index of the only sample entry of the track, counted from 1. */
const SAMPLE_ENTRY = 1
/** Size of `next_track_ID`, the last field of the movie header `mvhd` (8.2.2). */
const NEXT_TRACK_ID_BYTES = 4

/**
 * Adds the metadata track to the init segment of a video track, which is the header of an MP4 file.
 */
export function addMetadataTrack(init: Buffer): Buffer {
  const movieBoxes = parseBoxes(findBox(init, 'moov')).map(({ type, whole, payload }) => {
    if (type === 'mvhd') return setNextTrackId(whole, METADATA_TRACK + 1)
    if (type === 'mvex') return Buffer.concat([createTrack(), addTrackDefaults(payload)])
    return whole
  })
  const ftyp = parseBoxes(init).find(({ type }) => type === 'ftyp')
  const fileType = ftyp?.whole ?? Buffer.alloc(0)
  return Buffer.concat([fileType, box('moov', ...movieBoxes)])
}

function setNextTrackId(mvhd: Buffer, id: number): Buffer {
  const copy = Buffer.from(mvhd)
  copy.writeUInt32BE(id, copy.length - NEXT_TRACK_ID_BYTES)
  return copy
}

/**
 * Adds a `trex` box (8.8.3), which every track of a fragmented file needs. The defaults for samples
 * are 0: the fragments contain their duration and size, and their flags are 0.
 */
function addTrackDefaults(mvexPayload: Buffer): Buffer {
  const defaults = u32(METADATA_TRACK, SAMPLE_ENTRY, 0, 0, 0)
  return box('mvex', mvexPayload, fullBox('trex', 0, 0, defaults))
}

/** A sample of the metadata track. */
export interface MetadataSample {
  /** Number of the fragment that contains the sample. */
  sequence: number
  /** Time in ticks since the start of the file. */
  pts: number
  /** Duration in ticks. */
  duration: number
  /** The results as JSON. */
  text: string
}

/** Creates a fragment (`moof` and `mdat`) with one sample. */
export function createMetadataFragment({ sequence, pts, duration, text }: MetadataSample): Buffer {
  const data = Buffer.from(text)
  const createMoof = (dataOffset: number) =>
    box(
      'moof',
      fullBox('mfhd', 0, 0, u32(sequence)),
      box(
        'traf',
        fullBox('tfhd', 0, TFHD_BASE_IS_MOOF, u32(METADATA_TRACK)),
        fullBox('tfdt', 1, 0, u64(pts)),
        fullBox(
          'trun',
          0,
          TRUN_OFFSET_DURATION_SIZE,
          u32(SAMPLE_COUNT, dataOffset, duration, data.length),
        ),
      ),
    )

  const mdat = box('mdat', data)
  const mdatHeaderBytes = mdat.length - data.length
  // The data offset is relative to the start of `moof`, whose size does not depend on the offset.
  const moofBytes = createMoof(0).length
  return Buffer.concat([createMoof(moofBytes + mdatHeaderBytes), mdat])
}

function createTrack(): Buffer {
  // A sample entry starts with six reserved bytes and the index of the data reference (8.5.2).
  const sampleEntryStart = u16(0, 0, 0, 1)
  // Texts end with a null byte.
  const noEncoding = Buffer.from('\0')
  const mediaType = Buffer.from('application/json\0')
  return trackBox(
    { id: METADATA_TRACK, handler: 'meta', name: 'metadata', volume: 0 },
    {
      // Metadata has no width and no height.
      size: u32(0, 0),
      header: fullBox('nmhd', 0, 0),
      entry: box('mett', sampleEntryStart, noEncoding, mediaType),
      references: box('tref', box('cdsc', u32(VIDEO_TRACK))),
    },
  )
}
