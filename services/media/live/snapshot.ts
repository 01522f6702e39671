import { EyrieError } from '@eyrie/contract'
import { softwareDecoder } from '../decode/decoders.ts'
import { Pipeline } from '../node-gst/index.ts'
import type { CachedUnit, Stream, Track } from './stream.ts'

export interface Snapshot {
  jpeg: Uint8Array<ArrayBuffer>
  /** Of the picture that it shows. */
  pts: number
}

/** Single pictures out of live streams, decoded from the group of pictures that is cached anyway. */
export interface Snapshots {
  /**
   * The frame nearest to `pts` (90 kHz ticks of stream time) among those cached, or the latest keyframe. Throws
   * EyrieError `unavailable` when there is none yet or too many ask at once.
   */
  take(stream: Stream<Track>, pts?: number): Promise<Snapshot>
}

const MOST_AT_ONCE = 2
const MOST_WAITING = 16
const LIMIT_MS = 5_000
const JPEG_QUALITY = 85

export function createSnapshots(): Snapshots {
  const waiting: (() => void)[] = []
  let busy = 0

  async function enter() {
    if (busy < MOST_AT_ONCE) {
      busy++
      return
    }
    if (waiting.length >= MOST_WAITING) {
      throw new EyrieError('unavailable', 'too many snapshots are being taken: ask again later')
    }
    await new Promise<void>(resolve => waiting.push(resolve))
  }

  function leave() {
    const next = waiting.shift()
    if (next) next()
    else busy--
  }

  return {
    async take(stream, pts) {
      await enter()
      try {
        const track = stream.track()
        const units = unitsFor(stream.cached(), pts)
        if (!track || units.length === 0) throw new EyrieError('unavailable', 'the stream has no picture yet')
        return await decode(track, units)
      } finally {
        leave()
      }
    },
  }
}

/** All that must be decoded for the wanted frame, which is the last. */
function unitsFor(group: readonly CachedUnit[], pts: number | undefined): readonly CachedUnit[] {
  if (pts === undefined) return group.slice(0, 1)
  const distances = group.map(unit => Math.abs(unit.pts - pts))
  return group.slice(0, distances.indexOf(Math.min(...distances)) + 1)
}

async function decode(track: Track, units: readonly CachedUnit[]): Promise<Snapshot> {
  const wanted = units[units.length - 1]!.pts
  const begin = Math.min(...units.map(unit => unit.pts))
  const done = Promise.withResolvers<Snapshot>()
  const fail = (reason: string) =>
    done.reject(new EyrieError('unavailable', `the picture cannot be decoded: ${reason}`))

  const pipeline = new Pipeline(snapshotLaunch(track), message => {
    if (message.type === 'error') fail(message.error.message)
    if (message.type === 'eos') fail('it is not whole')
  })
  const limit = setTimeout(() => fail('it takes too long'), LIMIT_MS)
  try {
    pipeline.set('units', 'caps', capsOf(track))
    pipeline.setTimeline({ ptsOffset: begin })
    pipeline.samples('jpeg', { queue: 1, full: 'block' }, sample => {
      if (sample.pts === wanted) done.resolve({ jpeg: Uint8Array.from(sample.data), pts: wanted })
      sample.release()
    })
    await pipeline.setState('playing')
    for (const unit of units) {
      pipeline.push('units', unit.data, {
        ptsNs: nanoseconds(unit.pts - begin),
        decodeOnly: unit.pts !== wanted,
      })
    }
    pipeline.endOfStream('units')
    return await done.promise
  } finally {
    clearTimeout(limit)
    await pipeline.dispose()
  }
}

function snapshotLaunch(track: Track): string {
  const codec = 'avcC' in track ? 'h264' : 'hvcC' in track ? 'h265' : track.codec
  return [
    'appsrc name=units format=time max-bytes=0',
    softwareDecoder(codec),
    'videoscale ! video/x-raw,pixel-aspect-ratio=1/1',
    'videoconvert',
    `jpegenc quality=${JPEG_QUALITY}`,
    'appsink name=jpeg sync=false async=false',
  ].join(' ! ')
}

function capsOf(track: Track): string {
  if ('caps' in track) return track.caps
  const { width, height, pixelAspect } = track
  const [form, configuration] =
    'avcC' in track
      ? ['video/x-h264,stream-format=avc', track.avcC]
      : ['video/x-h265,stream-format=hvc1', track.hvcC]
  const shape = `width=${width},height=${height},pixel-aspect-ratio=${pixelAspect.numerator}/${pixelAspect.denominator}`
  return `${form},alignment=au,${shape},codec_data=(buffer)${Buffer.from(configuration).toString('hex')}`
}

const nanoseconds = (ticks: number) => Math.round((ticks * 100_000) / 9)
