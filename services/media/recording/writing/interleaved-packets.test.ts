import { beforeEach, describe, expect, test } from 'vitest'
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
let heard: string[]

beforeEach(() => {
  stream = createStream<Track>(1)
  stream.begin(video)
  listener = undefined
  heard = []
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
      picture: ({ dts }) => heard.push(`picture ${dts / SECOND}`),
      sound: ({ pts }) => heard.push(`sound ${pts / SECOND}`),
      interrupt: () => heard.push('interrupt'),
    },
  )

function picture(seconds: number) {
  const at = seconds * SECOND
  stream.write({ pts: at, dts: at, duration: SECOND / 4, keyframe: true, data: Buffer.alloc(1) })
}
const sound = (seconds: number) =>
  listener!.unit({ pts: seconds * SECOND, duration: SECOND / 4, data: Buffer.alloc(1) })

describe('pictures and sound', () => {
  test('come in the order of their times, whichever comes first', () => {
    const packets = follow()
    listener!.begin(aac)
    sound(0)
    sound(0.25)
    picture(0)
    picture(0.5)
    picture(1)
    expect(heard).toEqual(['picture 0', 'sound 0', 'sound 0.25', 'picture 0.5'])
    sound(0.5)
    expect(heard).not.toContain('picture 1')
    sound(0.75)
    expect(heard.slice(-3)).toEqual(['sound 0.5', 'sound 0.75', 'picture 1'])
    expect(packets.soundTrack()).toBe(aac)
  })

  test('do not wait for each other where there is only one of them', () => {
    const packets = follow()
    picture(0)
    picture(1)
    expect(heard).toEqual(['picture 0', 'picture 1'])
    expect(packets.soundTrack()).toBeUndefined()
  })

  test('part when the sound has stopped, and come together again with it', () => {
    const packets = follow()
    listener!.begin(aac)
    sound(0)
    picture(0)
    for (const seconds of [1, 2]) picture(seconds)
    expect(heard.at(-1)).toBe('picture 0')
    picture(3)
    expect([heard.at(-1), packets.soundTrack()]).toEqual(['picture 3', undefined])
    sound(3.5)
    picture(3.75)
    expect([heard.at(-1), packets.soundTrack()]).toEqual(['picture 3.75', aac])
  })

  test('are waited for anew after an interruption, and nothing that came before it is lost', () => {
    const packets = follow()
    listener!.begin(aac)
    sound(0)
    picture(1)
    stream.interrupt()
    expect(heard).toEqual(['sound 0', 'picture 1', 'interrupt'])
    picture(100)
    expect(heard.at(-1)).toBe('interrupt')
    sound(100)
    expect(heard.at(-1)).toBe('picture 100')
    expect(packets.soundTrack()).toBe(aac)
  })

  test('are told to the last when nobody follows any more', () => {
    const packets = follow()
    listener!.begin(aac)
    sound(0)
    picture(1)
    packets.leave()
    expect([heard.at(-1), listener]).toEqual(['picture 1', undefined])
  })

  test('of a source that makes none are not listened for for ever, but again after an interruption', () => {
    follow()
    for (let seconds = 0; seconds <= 11; seconds++) picture(seconds)
    expect(listener).toBeUndefined()
    stream.interrupt()
    expect(listener).toBeDefined()
  })
})
