import { box, fullBox, TFHD_BASE_IS_MOOF, trackBox, u16, u32, u64 } from '@eyrie/kit/mp4-boxes'
import { findBox, parseBoxes } from './mp4-segments.ts'

/**
 * A track of timed metadata in addition to the video track (ISO/IEC 14496-12, 12.3): one JSON text per sample, sample entry
 * `mett` of type application/json, with a `cdsc` reference to the video track.
 */
const VIDEO_TRACK = 1
const METADATA_TRACK = 2
const TRUN_DURATION_AND_SIZE = 0x301
/** `next_track_ID` is the last field of the movie header. */
const NEXT_TRACK_BYTES = 4

/** Adds the metadata track to the init segment of a video track. */
export function addMetadataTrack(init: Buffer): Buffer {
  const moov = findBox(init, 'moov')
  const parts = parseBoxes(moov).map(({ type, whole, payload }) => {
    if (type === 'mvhd') {
      const header = Buffer.from(whole)
      header.writeUInt32BE(METADATA_TRACK + 1, header.length - NEXT_TRACK_BYTES)
      return header
    }
    if (type !== 'mvex') return whole
    return Buffer.concat([
      createTrack(),
      box('mvex', payload, fullBox('trex', 0, 0, u32(METADATA_TRACK, 1, 0, 0, 0))),
    ])
  })
  const ftyp = parseBoxes(init).find(({ type }) => type === 'ftyp')
  return Buffer.concat([ftyp?.whole ?? Buffer.alloc(0), box('moov', ...parts)])
}

/** Creates moof and mdat for one sample. Times in ticks of the file. */
export function createMetadataFragment(
  sequence: number,
  pts: number,
  duration: number,
  text: string,
): Buffer {
  const data = Buffer.from(text)
  const moof = (dataOffset: number) =>
    box(
      'moof',
      fullBox('mfhd', 0, 0, u32(sequence)),
      box(
        'traf',
        fullBox('tfhd', 0, TFHD_BASE_IS_MOOF, u32(METADATA_TRACK)),
        fullBox('tfdt', 1, 0, u64(pts)),
        fullBox('trun', 0, TRUN_DURATION_AND_SIZE, u32(1, dataOffset, duration, data.length)),
      ),
    )
  const mdat = box('mdat', data)
  const headerBytes = mdat.length - data.length
  return Buffer.concat([moof(moof(0).length + headerBytes), mdat])
}

function createTrack(): Buffer {
  const noEncoding = Buffer.from('\0')
  return trackBox(
    { id: METADATA_TRACK, handler: 'meta', name: 'metadata', volume: 0 },
    {
      size: u32(0, 0),
      header: fullBox('nmhd', 0, 0),
      entry: box('mett', u16(0, 0, 0, 1), noEncoding, Buffer.from('application/json\0')),
      references: box('tref', box('cdsc', u32(VIDEO_TRACK))),
    },
  )
}
