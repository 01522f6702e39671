import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createTestSegmenter, FPS, track, unit } from './segmenter.fixture.ts'

describe('a segment', () => {
  test('begins with a keyframe and ends with one after its time', async () => {
    const { segmenter, writer, contents, ranges } = createTestSegmenter({ seconds: 2 })
    for (let n = 2; n < 30; n++) segmenter.addPicture(unit(n), track)
    segmenter.end()
    await writer.drain()
    expect(contents().map(({ info, fragments }) => [info.pts / 90_000, fragments.length])).toEqual([
      [1, 2],
      [3, 2],
      [5, 1],
    ])
    expect(contents()[0]!.info).toMatchObject({ source: 1, epoch: 7, codecs: 'avc1.42c00d', width: 320 })
    expect(ranges()).toEqual([[1, 6]])
  })

  test.each([
    ['that is short goes on, for a player shows the picture before', { seconds: 1 }, 1, [[0, 5]]],
    [
      'of more than two seconds ends it',
      { seconds: 3 },
      2,
      [
        [0, 2],
        [5, 7],
      ],
    ],
    [
      'of the clock ends it',
      { timeS: 100 },
      2,
      [
        [0, 2],
        [102, 104],
      ],
    ],
  ] as const)('a hole or step %s', async (_, shift, count, expected) => {
    const { segmenter, writer, files, ranges } = createTestSegmenter()
    for (let n = 0; n < 10; n++) segmenter.addPicture(unit(n), track)
    for (let n = 10; n < 20; n++) segmenter.addPicture(unit(n, shift), track)
    segmenter.end()
    await writer.drain()
    expect(files()).toHaveLength(count)
    expect(ranges()).toEqual(expected)
  })

  test('ends where the picture becomes another', async () => {
    const { segmenter, writer, contents } = createTestSegmenter()
    for (let n = 0; n < 10; n++) segmenter.addPicture(unit(n), track)
    const larger = { ...track, width: 640, height: 480 }
    for (let n = 10; n < 20; n++) segmenter.addPicture(unit(n), larger)
    segmenter.end()
    await writer.drain()
    expect(contents().map(({ info }) => info.width)).toEqual([320, 640])
  })

  test('keeps what is told of its last pictures after they were written', async () => {
    const { segmenter, writer, folder } = createTestSegmenter()
    for (let n = 0; n < 10; n++) segmenter.addPicture(unit(n), track)
    segmenter.flush()
    segmenter.addMetadata({ pts: 9 * 18_000, line: 'late' })
    segmenter.end()
    await writer.drain()
    const [name] = readdirSync(join(folder, '1')).filter(each => each.endsWith('jsonl'))
    expect(readFileSync(join(folder, '1', name!), 'utf8')).toBe('late\n')
  })

  test('has fragments of a second where keyframes are rare', async () => {
    const { segmenter, writer, contents } = createTestSegmenter()
    for (let n = 0; n < 20; n++) segmenter.addPicture({ ...unit(n), keyframe: n === 0 }, track)
    segmenter.end()
    await writer.drain()
    expect(contents()[0]!.fragments.map(({ samples }) => samples.length)).toEqual([5, 5, 5, 5])
  })
})

describe('a disk that is too slow', () => {
  test('costs whole groups of pictures, counts them, and says so', async () => {
    const { segmenter, writer, contents } = createTestSegmenter({ queueBytes: 4000 })
    // Nothing is written before the queue's turn comes, as on a disk that hangs.
    for (let n = 0; n < 50; n++) segmenter.addPicture(unit(n, { bytes: 200 }), track)
    expect(segmenter.failure()).toMatch(/too slow/)
    const { dropped } = segmenter.stats()
    expect(writer.queuedBytes()).toBeLessThanOrEqual(4000)
    await writer.drain()
    for (let n = 50; n < 60; n++) segmenter.addPicture(unit(n, { bytes: 200 }), track)
    segmenter.end()
    await writer.drain()
    expect(segmenter.failure()).toBeUndefined()
    const samples = contents().flatMap(({ fragments }) => fragments.flatMap(fragment => fragment.samples))
    expect(samples).toHaveLength(60 - segmenter.stats().dropped)
    expect(segmenter.stats().dropped).toBeGreaterThanOrEqual(dropped)
    expect(dropped % FPS).toBe(0)
    for (const { fragments } of contents())
      expect(fragments.every(({ samples }) => samples[0]!.keyframe)).toBe(true)
  })

  test('or without room is not written to until it has some', async () => {
    let why: string | undefined = 'the disk has only 5 bytes left'
    const { segmenter, writer, folder, ranges } = createTestSegmenter({ obstacle: () => why })
    for (let n = 0; n < 10; n++) segmenter.addPicture(unit(n), track)
    expect(segmenter.failure()).toBe(why)
    expect(segmenter.stats().dropped).toBe(10)
    why = undefined
    for (let n = 10; n < 20; n++) segmenter.addPicture(unit(n), track)
    segmenter.end()
    await writer.drain()
    expect([segmenter.failure(), ranges()]).toEqual([undefined, [[2, 4]]])
    expect(readdirSync(folder)).toContain('1')
  })
})
