import type { BBox } from '@eyrie/contract/object'
import type { SinkRecord } from '../sink.ts'

/**
 * The embedding of a detected object in a frame: a vector that describes the
 * appearance of the object.
 */
export interface EmbeddingRecord {
  channel: number
  source: number
  /** Presentation time of the frame in 90 kHz ticks. */
  pts: number
  /** Time of the frame in RFC 3339. */
  time: string
  /** Number of the object's track through the frames; null if it is not tracked. */
  track: number | null
  class: string
  /** Relative to the picture, 0..1. */
  bbox: BBox
  embedding: number[]
}

/** Returns a record for each object that has an embedding. */
export function toEmbeddingRecords({
  channel,
  source,
  pts,
  time,
  objects,
}: SinkRecord): EmbeddingRecord[] {
  const records: EmbeddingRecord[] = []
  for (const { class: name, bbox, track = null, embedding } of objects) {
    if (!embedding) continue
    records.push({ channel, source, pts, time, track, class: name, bbox, embedding })
  }
  return records
}
