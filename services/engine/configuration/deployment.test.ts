import type { SinkInput, SourceInput } from '@eyrie/contract'
import { describe, expect, test } from 'vitest'
import {
  createCameraSource,
  createLineCrossingElements,
  discardSink,
  lineConfig,
} from '../../../test/fixtures/engine/configuration.ts'
import { useFreshConfiguration } from '../../../test/fixtures/engine/fresh-configuration.ts'

const fresh = useFreshConfiguration()

describe('configuration', () => {
  describe('deployment', () => {
    const object = (
      sources: SourceInput[],
      config?: Record<string, unknown>,
      sinks: SinkInput[] = [],
    ) => ({
      sources,
      sinks,
      elements: createLineCrossingElements(config),
      priority: 5,
    })

    test('creates a pipeline for each object and merges equal sources and sinks', async () => {
      const { value } = await fresh.configuration.deploy([
        object([createCameraSource('rtsp://a/'), createCameraSource('rtsp://b/')], undefined, [
          discardSink,
        ]),
        object([createCameraSource('rtsp://b/')], undefined, [discardSink]),
      ])
      expect(value.sources).toHaveLength(2)
      expect(value.sinks).toHaveLength(1)
      expect(value.pipelines.map(({ sources, sinks }) => [sources, sinks])).toEqual([
        [[1, 2], [1]],
        [[2], [1]],
      ])
    })

    test('replaces source positions in configs and filters by ids', async () => {
      await fresh.configuration.sources.create(createCameraSource('rtsp://before/'))
      const filtered = { ...discardSink, filter: [1] }
      const { value } = await fresh.configuration.deploy([
        object(
          [createCameraSource('rtsp://a/'), createCameraSource('rtsp://b/')],
          { '0': lineConfig, '1': lineConfig },
          [filtered],
        ),
      ])
      expect(Object.keys(value.pipelines[0]?.elements[0]?.config ?? {})).toEqual(['2', '3'])
      expect(value.sinks[0]?.filter).toEqual([3])
    })

    test('rejects a config with two positions of the same source', async () => {
      const twice = object([createCameraSource('rtsp://a/'), createCameraSource('rtsp://a/')], {
        '0': lineConfig,
        '1': lineConfig,
      })
      await expect(fresh.configuration.deploy([object([]), twice])).rejects.toThrow(
        '/1/elements/0/config/1: a source appears more than once',
      )
    })

    test('changes recording settings without restarting channels', async () => {
      const recording = { mode: 'event', before_s: 3, after_s: 4, sound: true } as const
      await fresh.configuration.deploy([object([createCameraSource()])])
      const recorded = await fresh.configuration.deploy([
        object([{ ...createCameraSource(), recording }]),
      ])
      expect(recorded.value.sources).toEqual([{ id: 1, ...createCameraSource(), recording }])
      expect(fresh.plans.at(-1)?.sources[0]?.recording).toEqual(recording)
      expect(fresh.plans.at(-1)?.channels).toEqual(fresh.plans.at(-2)?.channels)
      const without = await fresh.configuration.deploy([object([createCameraSource()])])
      expect(without.value.sources).toEqual([{ id: 1, ...createCameraSource() }])
    })

    test('keeps the ids, channels and plan of equal objects', async () => {
      const objects = [
        object([createCameraSource('rtsp://a/')], { '0': lineConfig }),
        object([createCameraSource('rtsp://b/')]),
      ]
      const first = await fresh.configuration.deploy(objects)
      const plan = fresh.plans.at(-1)
      const again = await fresh.configuration.deploy(objects)
      expect(again).toEqual(first)
      const more = await fresh.configuration.deploy([
        object([createCameraSource('rtsp://c/')]),
        ...objects,
      ])
      expect(more.value.pipelines.slice(1)).toEqual(first.value.pipelines)
      expect(fresh.plans.at(-1)?.channels).toEqual(expect.arrayContaining(plan!.channels))
    })

    test('rejects two sinks that record to the same file', async () => {
      const recorder = (query: string): SinkInput => ({
        type: 'video',
        address: `file://${fresh.folder}/output/door.mp4${query}`,
        filter: [],
      })
      const one = object([createCameraSource('rtsp://a/')], undefined, [recorder('')])
      const other = object([createCameraSource('rtsp://b/')], undefined, [recorder('?keep=1')])
      await expect(fresh.configuration.deploy([one, other])).rejects.toThrow(
        /^\/1\/sinks: sink 1 already writes to .*door\.mp4/,
      )
      expect((await fresh.configuration.deploy([one, one])).value.sinks).toHaveLength(1)
    })

    test('keeps a pipeline with equal elements when its sources change', async () => {
      await fresh.configuration.deploy([object([createCameraSource('rtsp://a/')])])
      const { value } = await fresh.configuration.deploy([
        object([createCameraSource('rtsp://b/')]),
      ])
      expect(value.pipelines.map(({ id, sources }) => [id, sources])).toEqual([[1, [2]]])
    })

    test('restores hidden passwords from the stored source with the same address', async () => {
      await fresh.configuration.deploy([object([createCameraSource('rtsp://me:secret@a/')])])
      await fresh.configuration.deploy([object([createCameraSource('rtsp://me:***@a/')])])
      expect(fresh.plans.at(-1)?.sources).toMatchObject([
        { id: 1, address: { url: 'rtsp://me:secret@a/' } },
      ])
    })

    test('may be empty', async () => {
      await fresh.configuration.deploy([object([createCameraSource()])])
      expect((await fresh.configuration.deploy([])).value).toEqual({
        sources: [],
        sinks: [],
        pipelines: [],
      })
      expect(fresh.plans.at(-1)?.channels).toEqual([])
    })

    test.each([
      [
        '/1/sources/0/address',
        () => [object([createCameraSource()]), object([createCameraSource('ftp://a/')])],
      ],
      ['/0/elements/0/config/1', () => [object([createCameraSource()], { '1': lineConfig })]],
      [
        '/0/sinks/0/filter/0',
        () => [object([createCameraSource()], undefined, [{ ...discardSink, filter: [3] }])],
      ],
      [
        '/0/sinks/0/address',
        () => [
          object([createCameraSource()], undefined, [
            { ...discardSink, type: 'file', address: 'file:///etc/x' },
          ]),
        ],
      ],
    ])('changes nothing if it is invalid, and reports the place %s', async (place, body) => {
      await fresh.configuration.deploy([object([createCameraSource('rtsp://running/')])])
      const before = fresh.configuration.get()
      await expect(fresh.configuration.deploy(body() as never)).rejects.toMatchObject({
        code: 'syntax',
        message: expect.stringMatching(new RegExp(`^${place}: `)),
      })
      expect(fresh.configuration.get()).toEqual(before)
    })
  })
})
