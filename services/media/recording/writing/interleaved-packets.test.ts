import { beforeEach, describe, expect, it } from 'vitest'
import type { Sound } from '../../sound/source-sound.ts'
import { createStream, type Track, type WritableStream } from '../../stream/live-stream.ts'
import { followInterleaved } from './interleaved-packets.ts'

const SECOND = 90_000
const video = {
  width: 320,
  height: 240,
  pixelAspect: { numerator: 1, denominator: 1 },
  avcC: Uint8Array.of(1, 0x42, 0xc0, 0x0d),
}
const aac = { rate: 48_000, channels: 1, configuration: Uint8Array.of(0x11, 0x88) }

let stream: WritableStream<Track>
let listener: Parameters<Sound['listenToAac']>[0] | undefined
let received: string[]

beforeEach(() => {
  stream = createStream<Track>(1)
  stream.begin(video)
  listener = undefined
  received = []
})

const follow = () =>
  followInterleaved(
    stream,
    {
      listenToAac(next) {
        listener = next
        return () => {
          listener = undefined
        }
      },
    },
    {
      picture: ({ dts }) => received.push(`picture ${dts / SECOND}`),
      sound: ({ pts }) => received.push(`sound ${pts / SECOND}`),
      interrupt: () => received.push('interrupt'),
    },
  )

function picture(seconds: number) {
  const pts = seconds * SECOND
  stream.write({ pts, dts: pts, duration: SECOND / 4, keyframe: true, data: Buffer.alloc(1) })
}
const sound = (seconds: number) =>
  listener!.unit({ pts: seconds * SECOND, duration: SECOND / 4, data: Buffer.alloc(1) })

describe('interleaved packets', () => {
  it('are in stream-time order for any order of arrival', () => {
    const packets = follow()
    listener!.begin(aac)
    sound(0)
    sound(0.25)
    picture(0)
    picture(0.5)
    picture(1)
    expect(received).toEqual(['picture 0', 'sound 0', 'sound 0.25', 'picture 0.5'])
    sound(0.5)
    expect(received).not.toContain('picture 1')
    sound(0.75)
    expect(received.slice(-3)).toEqual(['sound 0.5', 'sound 0.75', 'picture 1'])
    expect(packets.soundTrack()).toBe(aac)
  })

  it('do not wait for sound of a silent source', () => {
    const packets = follow()
    picture(0)
    picture(1)
    expect(received).toEqual(['picture 0', 'picture 1'])
    expect(packets.soundTrack()).toBeUndefined()
  })

  it('stop waiting for sound that has stopped until it returns', () => {
    const packets = follow()
    listener!.begin(aac)
    sound(0)
    picture(0)
    for (const seconds of [1, 2]) picture(seconds)
    expect(received.at(-1)).toBe('picture 0')
    picture(3)
    expect([received.at(-1), packets.soundTrack()]).toEqual(['picture 3', undefined])
    sound(3.5)
    picture(3.75)
    expect([received.at(-1), packets.soundTrack()]).toEqual(['picture 3.75', aac])
  })

  it('are complete before an interruption and wait for sound again after it', () => {
    const packets = follow()
    listener!.begin(aac)
    sound(0)
    picture(1)
    stream.interrupt()
    expect(received).toEqual(['sound 0', 'picture 1', 'interrupt'])
    picture(100)
    expect(received.at(-1)).toBe('interrupt')
    sound(100)
    expect(received.at(-1)).toBe('picture 100')
    expect(packets.soundTrack()).toBe(aac)
  })

  it('are complete when the reader leaves', () => {
    const packets = follow()
    listener!.begin(aac)
    sound(0)
    picture(1)
    packets.leave()
    expect([received.at(-1), listener]).toEqual(['picture 1', undefined])
  })

  it('stop listening to a silent source, and listen again after an interruption', () => {
    follow()
    for (let seconds = 0; seconds <= 11; seconds++) picture(seconds)
    expect(listener).toBeUndefined()
    stream.interrupt()
    expect(listener).toBeDefined()
  })
})
