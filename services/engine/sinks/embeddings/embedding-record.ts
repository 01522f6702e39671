import type { BBox } from '@eyrie/contract/object'
import type { SinkRecord } from '../sink.ts'

/** The vector of an object in a frame: `pts` in 90 kHz ticks, `time` in RFC 3339, `bbox` 0..1 of the picture. */
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

/** One record for each object that carries a vector. */
export function toEmbeddingRecords({ channel, source, pts, time, objects }: SinkRecord): EmbeddingRecord[] {
  return objects.flatMap(({ class: name, bbox, track = null, embedding }) =>
    embedding ? [{ channel, source, pts, time, track, class: name, bbox, embedding }] : [],
  )
}
