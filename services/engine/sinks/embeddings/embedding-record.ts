import type { BBox } from '@eyrie/contract/object'
import type { SinkRecord } from '../sink.ts'

/** The embedding of an object in a frame: `pts` in 90 kHz ticks, `time` in RFC 3339, `bbox` relative to the picture, 0..1. */
export interface EmbeddingRecord {
  channel: number
  source: number
  pts: number
  time: string
  track: number | null
  class: string
  bbox: BBox
  embedding: number[]
}

/** Returns a record for each object that has an embedding. */
export function toEmbeddingRecords({ channel, source, pts, time, objects }: SinkRecord): EmbeddingRecord[] {
  return objects.flatMap(({ class: name, bbox, track = null, embedding }) =>
    embedding ? [{ channel, source, pts, time, track, class: name, bbox, embedding }] : [],
  )
}
