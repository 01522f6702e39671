import type { StreamInfo } from '@eyrie/contract'
import { displaySize } from '../gstreamer/picture.ts'
import { type AccessUnit, createInitSegment, createVideoFragment } from './fmp4.ts'
import { isPlayable, type PlayableTrack, toCodecString, type VideoTrack } from './sample-entry.ts'
import { createUnitCache } from './unit-cache.ts'

/**
 * A client that plays a stream, the live view of a source. It receives fragmented MP4: an init
 * segment, followed by fragments.
 */
export interface Viewer<Playable extends PlayableTrack = VideoTrack> {
  /**
   * Called before the first fragment, and whenever the track changes. The following fragments
   * belong to this init segment.
   */
  begin(info: StreamInfo, init: Uint8Array, track: Playable): void
  /** Called for each access unit. `bytes` is the unit packaged as a fragment. */
  fragment(bytes: Uint8Array, unit: StreamUnit): void
  /** Returns the number of bytes that the viewer has received but not yet sent to its client. */
  backlog(): number
  /** Called when the stream has ended. */
  end(reason: string): void
}

/** An access unit with the capture time of its picture, in µs since 1970, if known. */
export interface TimedUnit extends AccessUnit {
  timeUs?: number | undefined
}

/** An access unit with the sequence number of its fragment. */
export interface StreamUnit extends TimedUnit {
  sequence: number
  /** The unit as a fragment; undefined until a viewer needs it. */
  bytes?: Buffer
}

/** Reads the packets of a stream without packaging. */
export interface PacketReader<Carried extends Track = VideoTrack> {
  unit(unit: StreamUnit, track: Carried): void
  /** Called when packets are missing before the next unit. */
  interrupt(): void
}

/** A track in a codec that players cannot decode. `caps` are the GStreamer caps for a decoder. */
export interface UnplayableTrack {
  codec: string
  caps: string
}

export type Track = PlayableTrack | UnplayableTrack

/** A live view: sends packets as fragmented MP4 to any number of viewers, in H.264 by default. */
export interface Stream<Carried extends Track = VideoTrack> {
  /**
   * Returns codecs and size; undefined before the first packet, and for video that
   * players cannot decode.
   */
  info(): StreamInfo | undefined
  track(): Carried | undefined
  /** Returns the current group of pictures, beginning with its keyframe, in decoding order. */
  cachedUnits(): readonly StreamUnit[]
  /** Returns the greatest `pts` so far. */
  newestPts(): number
  viewerCount(): number
  /**
   * Waits for the first fragment of a stream that is produced on demand; other streams do not have
   * this method. The caller counts as a viewer meanwhile. Rejects with `EyrieError` (`unavailable`)
   * if the stream ends first, or with the signal's reason.
   */
  waitUntilStarted?(signal: AbortSignal): Promise<void>
  /**
   * Adds a viewer, which receives the current group of pictures at once. Returns a function
   * that removes the viewer.
   */
  watch(viewer: Viewer<Extract<Carried, PlayableTrack>>): () => void
  /** Adds a reader. Returns a function that removes the reader. */
  follow(reader: PacketReader<Carried>): () => void
}

/** The writing end of a stream. */
export interface StreamWriter<Carried extends Track = VideoTrack> {
  /** Must be called before the first unit and whenever the track changes. */
  begin(track: Carried): void
  /** Sends a unit to all viewers and readers. The data is copied. */
  write(unit: TimedUnit): void
  /** Must be called when packets are missing. Viewers then wait for the next keyframe. */
  interrupt(): void
  /** Disconnects all viewers. */
  end(reason: string): void
}

export type WritableStream<Carried extends Track = VideoTrack> = Stream<Carried> &
  StreamWriter<Carried>

/** A viewer with more unsent bytes than this receives nothing until its connection has drained. */
const BACKLOG_LIMIT_BYTES = 4 << 20
/** A larger group of pictures is not cached for new and slow viewers. */
const CACHE_LIMIT_BYTES = 32 << 20

/** The progress of a viewer in the stream. */
interface Position {
  /** Sequence number of the unit to send next, or `AWAITS_KEYFRAME`. */
  next: number
}
/**
 * Position of a viewer that receives nothing until the next keyframe. Sequence numbers begin at 1.
 */
const AWAITS_KEYFRAME = 0

/** A track that players can decode, with the init segment that describes it. */
interface Packaging<Playable extends PlayableTrack> {
  track: Playable
  info: StreamInfo
  init: Buffer
}

export function createStream<Carried extends Track = VideoTrack>(
  epoch: number,
): WritableStream<Carried> {
  type Playable = Extract<Carried, PlayableTrack>
  const viewers = new Map<Viewer<Playable>, Position>()
  const readers = new Set<PacketReader<Carried>>()
  const cache = createUnitCache<StreamUnit>(CACHE_LIMIT_BYTES)
  let current: { track: Carried; packaging: Packaging<Playable> | undefined } | undefined
  let sequence = 0
  let lastDts = -1
  let newestPts = 0

  /** Sends as many units as the viewer has room for. A slow viewer catches up from the cache. */
  function send(viewer: Viewer<Playable>, position: Position) {
    let unit = cache.find(position.next)
    while (unit && viewer.backlog() <= BACKLOG_LIMIT_BYTES) {
      viewer.fragment(toFragment(unit), unit)
      position.next = unit.sequence + 1
      unit = cache.find(position.next)
    }
  }

  function sendInit(viewer: Viewer<Playable>) {
    if (!current?.packaging) return
    const { info, init, track } = current.packaging
    viewer.begin(info, init, track)
  }

  function interrupt() {
    cache.clear()
    for (const position of viewers.values()) position.next = AWAITS_KEYFRAME
    for (const reader of readers) reader.interrupt()
  }

  /** Returns undefined for a track that players cannot decode. */
  function createPackaging(track: Carried): Packaging<Playable> | undefined {
    if (!isPlayable(track)) return undefined
    const info = { codecs: toCodecString(track), ...displaySize(track), epoch }
    return { track: track as Playable, info, init: createInitSegment(track) }
  }

  return {
    info: () => current?.packaging?.info,
    track: () => current?.track,
    cachedUnits: cache.units,
    newestPts: () => newestPts,
    viewerCount: () => viewers.size,

    begin(track) {
      const isUnchanged = current && hasSameConfiguration(current.track, track)
      if (isUnchanged) return

      current = { track, packaging: createPackaging(track) }
      interrupt()
      for (const viewer of viewers.keys()) sendInit(viewer)
    },

    write(unit) {
      // Decode times in MP4 are not negative and must increase, so earlier units get consecutive
      // ticks.
      const dts = Math.max(unit.dts, lastDts + 1)
      lastDts = dts
      newestPts = Math.max(newestPts, unit.pts)

      sequence++
      const streamUnit = { ...unit, dts, data: Buffer.from(unit.data), sequence }
      cache.add(streamUnit)

      for (const [viewer, position] of viewers) {
        if (streamUnit.keyframe) position.next = sequence
        else if (!cache.find(position.next)) position.next = AWAITS_KEYFRAME
        send(viewer, position)
      }

      if (!current) return
      for (const reader of readers) reader.unit(streamUnit, current.track)
    },

    interrupt,

    watch(viewer) {
      sendInit(viewer)
      const [firstUnit] = cache.units()
      const position = { next: firstUnit?.sequence ?? AWAITS_KEYFRAME }
      viewers.set(viewer, position)
      send(viewer, position)
      return () => viewers.delete(viewer)
    },

    follow(reader) {
      readers.add(reader)
      return () => readers.delete(reader)
    },

    end(reason) {
      for (const viewer of viewers.keys()) viewer.end(reason)
      viewers.clear()
    },
  }
}

/** Whether viewers can continue with the same init segment. */
function hasSameConfiguration(a: Track, b: Track): boolean {
  return Buffer.compare(getConfiguration(a), getConfiguration(b)) === 0
}

/** Returns bytes that identify the configuration of a track. */
function getConfiguration(track: Track): Uint8Array {
  if ('avcC' in track) return track.avcC
  return 'hvcC' in track ? track.hvcC : Buffer.from(track.caps)
}

/**
 * Returns a unit as a fragment. It is packaged once for all viewers. Afterwards `data` refers to
 * the bytes in the fragment, to save memory.
 */
function toFragment(unit: StreamUnit): Buffer {
  const { data } = unit
  unit.bytes ??= createVideoFragment(unit.sequence, unit)
  unit.data = unit.bytes.subarray(unit.bytes.length - data.length)
  return unit.bytes
}
