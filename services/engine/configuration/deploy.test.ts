import type { SinkInput, SourceInput } from '@eyrie/contract'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  camera,
  counting,
  discard,
  line,
  type OpenConfiguration,
  openConfiguration,
} from '../../../test/fixtures/configuration.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'

describe('a configuration', () => {
  let folder: string
  let opened: OpenConfiguration

  const open = async () => {
    opened = await openConfiguration(folder)
  }
  beforeEach(async () => {
    folder = temporaryFolder()
    await open()
  })

  describe('deployed whole', () => {
    const object = (sources: SourceInput[], config?: Record<string, unknown>, sinks: SinkInput[] = []) => ({
      sources,
      sinks,
      elements: counting(config),
      priority: 5,
    })

    test('makes a pipeline of each object; equal sources and sinks are one', async () => {
      const { value } = await opened.configuration.deploy([
        object([camera('rtsp://a/'), camera('rtsp://b/')], undefined, [discard]),
        object([camera('rtsp://b/')], undefined, [discard]),
      ])
      expect(value.sources).toHaveLength(2)
      expect(value.sinks).toHaveLength(1)
      expect(value.pipelines.map(({ sources, sinks }) => [sources, sinks])).toEqual([
        [[1, 2], [1]],
        [[2], [1]],
      ])
    })

    test('turns positions in configs and filters into ids', async () => {
      await opened.configuration.sources.create(camera('rtsp://before/'))
      const filtered = { ...discard, filter: [1] }
      const { value } = await opened.configuration.deploy([
        object([camera('rtsp://a/'), camera('rtsp://b/')], { '0': line, '1': line }, [filtered]),
      ])
      expect(Object.keys(value.pipelines[0]?.elements[0]?.config ?? {})).toEqual(['2', '3'])
      expect(value.sinks[0]?.filter).toEqual([3])
    })

    test('keeps the ids, channels and plan of what is equal', async () => {
      const objects = [object([camera('rtsp://a/')], { '0': line }), object([camera('rtsp://b/')])]
      const first = await opened.configuration.deploy(objects)
      const plan = opened.plans.at(-1)
      const again = await opened.configuration.deploy(objects)
      expect(again).toEqual(first)
      const more = await opened.configuration.deploy([object([camera('rtsp://c/')]), ...objects])
      expect(more.value.pipelines.slice(1)).toEqual(first.value.pipelines)
      expect(opened.plans.at(-1)?.channels).toEqual(expect.arrayContaining(plan!.channels))
    })

    test('keeps a pipeline by its elements when its sources change', async () => {
      await opened.configuration.deploy([object([camera('rtsp://a/')])])
      const { value } = await opened.configuration.deploy([object([camera('rtsp://b/')])])
      expect(value.pipelines.map(({ id, sources }) => [id, sources])).toEqual([[1, [2]]])
    })

    test('takes hidden passwords from the source that looks the same', async () => {
      await opened.configuration.deploy([object([camera('rtsp://me:secret@a/')])])
      await opened.configuration.deploy([object([camera('rtsp://me:***@a/')])])
      expect(opened.plans.at(-1)?.sources).toMatchObject([{ id: 1, address: { url: 'rtsp://me:secret@a/' } }])
    })

    test('may be empty', async () => {
      await opened.configuration.deploy([object([camera()])])
      expect((await opened.configuration.deploy([])).value).toEqual({ sources: [], sinks: [], pipelines: [] })
      expect(opened.plans.at(-1)?.channels).toEqual([])
    })

    test.each([
      ['/1/sources/0/address', () => [object([camera()]), object([camera('ftp://a/')])]],
      ['/0/elements/0/config/1', () => [object([camera()], { '1': line })]],
      ['/0/sinks/0/filter/0', () => [object([camera()], undefined, [{ ...discard, filter: [3] }])]],
      [
        '/0/sinks/0/address',
        () => [object([camera()], undefined, [{ ...discard, type: 'file', address: 'file:///etc/x' }])],
      ],
    ])('is refused as a whole, naming %s', async (place, body) => {
      await opened.configuration.deploy([object([camera('rtsp://running/')])])
      const before = opened.configuration.get()
      await expect(opened.configuration.deploy(body() as never)).rejects.toMatchObject({
        code: 'syntax',
        message: expect.stringMatching(new RegExp(`^${place}: `)),
      })
      expect(opened.configuration.get()).toEqual(before)
    })
  })
})
