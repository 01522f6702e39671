import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BEGIN_US, createTestSegmenter, FPS, track, unit } from './segmenter.fixture.ts'

describe('segment', () => {
  it('begins with a keyframe and ends before the first keyframe after its minimum length', async () => {
    const { segmenter, queue, contents, ranges } = createTestSegmenter({ seconds: 2 })
    for (let n = 2; n < 30; n++) segmenter.addPicture(unit(n), track)
    segmenter.end()
    await queue.drain()
    expect(contents().map(({ info, fragments }) => [info.pts / 90_000, fragments.length])).toEqual([
      [1, 2],
      [3, 2],
      [5, 1],
    ])
    expect(contents()[0]!.info).toMatchObject({
      source: 1,
      epoch: 7,
      codecs: 'avc1.42c00d',
      width: 320,
    })
    expect(ranges()).toEqual([[1, 6]])
  })

  it('may begin with a picture whose timestamp has stepped back', async () => {
    const { segmenter, queue, contents } = createTestSegmenter()
    segmenter.addPicture({ ...unit(0), pts: -26_564 }, track)
    for (let n = 1; n < 5; n++) segmenter.addPicture(unit(n), track)
    segmenter.end()
    await queue.drain()
    expect(
      contents().map(({ fragments }) => fragments.map(({ pictures }) => pictures.length)),
    ).toEqual([[5]])
  })

  it.each([
    ['short gap continues the segment', { seconds: 1 }, 1, [[0, 5]]],
    [
      'gap of more than two seconds ends the segment',
      { seconds: 3 },
      2,
      [
        [0, 2],
        [5, 7],
      ],
    ],
    [
      'step of the wall clock ends the segment',
      { timeS: 100 },
      2,
      [
        [0, 2],
        [102, 104],
      ],
    ],
  ] as const)('continues or ends: a %s', async (_, shift, count, expected) => {
    const { segmenter, queue, files, ranges } = createTestSegmenter()
    for (let n = 0; n < 10; n++) segmenter.addPicture(unit(n), track)
    for (let n = 10; n < 20; n++) segmenter.addPicture(unit(n, shift), track)
    segmenter.end()
    await queue.drain()
    expect(files()).toHaveLength(count)
    expect(ranges()).toEqual(expected)
  })

  it('ends when the picture size changes', async () => {
    const { segmenter, queue, contents } = createTestSegmenter()
    for (let n = 0; n < 10; n++) segmenter.addPicture(unit(n), track)
    const larger = { ...track, width: 640, height: 480 }
    for (let n = 10; n < 20; n++) segmenter.addPicture(unit(n), larger)
    segmenter.end()
    await queue.drain()
    expect(contents().map(({ info }) => info.width)).toEqual([320, 640])
  })

  it('contains metadata that arrives after its pictures were written', async () => {
    const { segmenter, queue, folder } = createTestSegmenter()
    for (let n = 0; n < 10; n++) segmenter.addPicture(unit(n), track)
    segmenter.flush()
    segmenter.addMetadata({ pts: 9 * 18_000, line: 'late' })
    segmenter.end()
    await queue.drain()
    const [name] = readdirSync(join(folder, '1')).filter(each => each.endsWith('jsonl'))
    expect(readFileSync(join(folder, '1', name!), 'utf8')).toBe('late\n')
  })

  it('has the current time if its pictures have a later one than the index can contain', async () => {
    const { segmenter, queue, ranges } = createTestSegmenter({ nowUs: () => BEGIN_US })
    const timeUs = Date.UTC(9999, 0, 1) * 1000
    for (let n = 0; n < 5; n++) segmenter.addPicture({ ...unit(n), timeUs }, track)
    segmenter.end()
    await queue.drain()
    expect(ranges()).toEqual([[0, 0.2]])
  })

  it('has fragments of one second if keyframes are rare', async () => {
    const { segmenter, queue, contents } = createTestSegmenter()
    for (let n = 0; n < 20; n++) segmenter.addPicture({ ...unit(n), keyframe: n === 0 }, track)
    segmenter.end()
    await queue.drain()
    expect(contents()[0]!.fragments.map(({ pictures }) => pictures.length)).toEqual([5, 5, 5, 5])
  })
})

describe('segmenter', () => {
  it('drops and counts whole GOPs and reports a disk that is too slow', async () => {
    const { segmenter, queue, contents } = createTestSegmenter({ queueBytes: 4000 })
    // The queue runs asynchronously: until then it behaves like a hanging disk.
    for (let n = 0; n < 50; n++) segmenter.addPicture(unit(n, { bytes: 200 }), track)
    expect(segmenter.failure()).toMatch(/too slow/)
    const { dropped } = segmenter.stats()
    expect(queue.queuedBytes()).toBeLessThanOrEqual(4000)
    await queue.drain()
    for (let n = 50; n < 60; n++) segmenter.addPicture(unit(n, { bytes: 200 }), track)
    segmenter.end()
    await queue.drain()
    expect(segmenter.failure()).toBeUndefined()
    const pictures = contents().flatMap(({ fragments }) =>
      fragments.flatMap(fragment => fragment.pictures),
    )
    expect(pictures).toHaveLength(60 - segmenter.stats().dropped)
    expect(segmenter.stats().dropped).toBeGreaterThanOrEqual(dropped)
    expect(dropped % FPS).toBe(0)
    for (const { fragments } of contents()) {
      expect(fragments.every(({ pictures }) => pictures[0]!.keyframe)).toBe(true)
    }
  })

  it('writes nothing while there is an obstacle', async () => {
    let obstacle: string | undefined = 'the disk has only 5 bytes left'
    const { segmenter, queue, folder, ranges } = createTestSegmenter({ obstacle: () => obstacle })
    for (let n = 0; n < 10; n++) segmenter.addPicture(unit(n), track)
    expect(segmenter.failure()).toBe(obstacle)
    expect(segmenter.stats().dropped).toBe(10)
    obstacle = undefined
    for (let n = 10; n < 20; n++) segmenter.addPicture(unit(n), track)
    segmenter.end()
    await queue.drain()
    expect([segmenter.failure(), ranges()]).toEqual([undefined, [[2, 4]]])
    expect(readdirSync(folder)).toContain('1')
  })
})
