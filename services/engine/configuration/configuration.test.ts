import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SinkInput, SourceInput } from '@eyrie/contract'
import { createLog } from '@eyrie/kit/log'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createCatalog } from '../catalog/catalog.ts'
import { discoverElements } from '../plugin-host/discovery.ts'
import type { Plan } from '../ports.ts'
import { type Configuration, createConfiguration } from './configuration.ts'

const log = createLog('test', 'silent')
const plugins = join(import.meta.dirname, '../../../plugins')
const catalog = createCatalog({
  elements: discoverElements([plugins], log),
  models: { list: () => [], get: () => undefined },
  inference: { devices: () => [{ type: 'cpu', current_models: 0 }] },
})

describe('the configuration', () => {
  let folder: string
  let plans: Plan[]
  let endSource: (source: number) => void
  let configuration: Configuration

  const file = () => join(folder, 'engine', 'configuration.json')
  const open = async () => {
    plans = []
    configuration = createConfiguration({
      folder: join(folder, 'engine'),
      roots: { media: [join(folder, 'media')], output: [join(folder, 'output')] },
      pacing: 'realtime',
      catalog,
      log,
      runtime: {
        apply: async plan => {
          plans.push(plan)
        },
        onSourceEnded: listener => {
          endSource = listener
        },
      },
    })
    await configuration.start()
  }
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'eyrie-configuration-'))
    await open()
  })
  afterEach(() => rm(folder, { recursive: true }))

  const camera = (url = 'rtsp://camera/stream'): SourceInput => ({
    type: 'video',
    address: url,
    decoder: 'gst_h264',
  })
  const clip = (name: string): SourceInput => ({
    ...camera(),
    type: 'file',
    address: join(folder, 'media', name),
  })
  const lines = {
    lines: [
      {
        name: 'door',
        coords: [
          { x: 0, y: 0 },
          { x: 1, y: 1 },
        ],
      },
    ],
  }
  const counting = (config?: Record<string, unknown>) => [
    { name: 'line-crossing', ...(config && { config }) },
  ]
  const pipelineOf = (sources: number[], config?: Record<string, unknown>) => ({
    elements: counting(config),
    priority: 5,
    sources,
    sinks: [],
  })
  const discard: SinkInput = { type: 'inf', address: 'inf://nothing', filter: [] }

  describe('on disk', () => {
    test('comes back as it was, with its tags, and reaches the runtime', async () => {
      const source = await configuration.sources.create(camera())
      await configuration.pipelines.create(pipelineOf([source.value.id]))
      const before = configuration.get()
      const plan = plans.at(-1)
      await open()
      expect(configuration.get()).toEqual(before)
      expect(plans).toEqual([plan])
    })

    test('can be read by its owner alone, since it holds passwords', async () => {
      await configuration.sources.create(camera())
      expect((await stat(file())).mode & 0o777).toBe(0o600)
    })

    test.each([
      ['is no JSON', () => '{"version":1,'],
      ['is empty', () => ''],
      ['misses a part', (text: string) => JSON.stringify({ ...JSON.parse(text), sinks: undefined })],
      ['refers to what is not there', (text: string) => JSON.stringify({ ...JSON.parse(text), sources: [] })],
    ])('is refused, and left alone, when it %s', async (_, damage) => {
      const source = await configuration.sources.create(camera())
      await configuration.pipelines.create(pipelineOf([source.value.id]))
      const damaged = damage(await readFile(file(), 'utf8'))
      await writeFile(file(), damaged)
      await expect(open()).rejects.toThrow(file())
      expect(await readFile(file(), 'utf8')).toBe(damaged)
    })

    test('is not touched by an edit that is refused', async () => {
      await configuration.sources.create(camera())
      const before = await readFile(file(), 'utf8')
      await expect(configuration.pipelines.create(pipelineOf([7]))).rejects.toMatchObject({ code: 'id' })
      expect(await readFile(file(), 'utf8')).toBe(before)
      expect(plans).toHaveLength(2)
    })

    test('decides: an edit that cannot be kept does not happen', async () => {
      await configuration.sources.create(camera())
      await rm(join(folder, 'engine'), { recursive: true })
      await expect(configuration.sources.create(camera())).rejects.toThrow()
      expect(configuration.sources.list().value).toHaveLength(1)
      expect(plans).toHaveLength(2)
    })
  })

  describe('gives ids', () => {
    test('to each of many who write at once, and keeps them all', async () => {
      const created = await Promise.all(
        Array.from({ length: 50 }, () => configuration.sources.create(camera())),
      )
      const ids = created.map(({ value }) => value.id)
      expect(new Set(ids).size).toBe(50)
      await open()
      expect(configuration.sources.list().value.map(({ id }) => id)).toEqual(ids)
    })

    test('only once, even after deletion and restart', async () => {
      const first = await configuration.sources.create(camera())
      await configuration.sources.remove(first.value.id, false)
      await open()
      expect((await configuration.sources.create(camera())).value.id).toBeGreaterThan(first.value.id)
    })

    test('to channels by the pair of source and pipeline, for as long as both exist', async () => {
      const [a, b] = [
        await configuration.sources.create(camera()),
        await configuration.sources.create(camera('rtsp://b/')),
      ]
      const pipeline = await configuration.pipelines.create(pipelineOf([a.value.id, b.value.id]))
      const before = configuration.channels()
      await configuration.disconnect(pipeline.value.id, 'sources', [a.value.id])
      expect(configuration.channels()).toEqual([before[1]])
      await open()
      await configuration.connect(pipeline.value.id, 'sources', [a.value.id])
      expect(configuration.channels()).toEqual(before)
    })
  })

  describe('of two who edit the same resource', () => {
    test('refuses the one whose tag is no longer true', async () => {
      const { value, etag } = await configuration.sources.create(camera())
      await configuration.sources.modify(value.id, { rate: 5 }, etag)
      await expect(configuration.sources.modify(value.id, { rate: 7 }, etag)).rejects.toMatchObject({
        code: 'precondition',
      })
      expect(configuration.sources.get(value.id).value.rate).toBe(5)
    })

    test('lets exactly one of many with the same tag win', async () => {
      const { value, etag } = await configuration.sources.create(camera())
      const edits = [1, 2, 3, 4, 5].map(rate => configuration.sources.modify(value.id, { rate }, etag))
      const settled = await Promise.allSettled(edits)
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })
  })

  describe('never shows a secret', () => {
    const secret = { url: 'rtsp://me:inurl@camera/1', username: 'me', password: 'long', token: 'bearer' }

    test('in a url or a long address, and hands it to the runtime', async () => {
      await configuration.sources.create(camera('rtsp://me:p@ss@camera/1'))
      await configuration.sources.create({ ...camera(), address: secret })
      expect(configuration.sources.list().value.map(({ address }) => address)).toEqual([
        'rtsp://me:***@camera/1',
        { url: 'rtsp://me:***@camera/1', username: 'me', password: '***', token: '***' },
      ])
      expect(plans.at(-1)?.sources.map(({ address }) => address)).toEqual([
        { url: 'rtsp://me:p@ss@camera/1' },
        secret,
      ])
    })

    test('and keeps it where *** is sent back', async () => {
      const { value } = await configuration.sources.create({ ...camera(), address: secret })
      await configuration.sources.update(value.id, { ...value, rate: 5 })
      await configuration.sources.modify(value.id, { address: { username: 'you' } })
      expect(plans.at(-1)?.sources[0]).toMatchObject({ rate: 5, address: { ...secret, username: 'you' } })
    })

    test('but changes the tag with it', async () => {
      const { value, etag } = await configuration.sources.create({ ...camera(), address: secret })
      const changed = await configuration.sources.modify(value.id, { address: { password: 'other' } })
      expect(changed.value).toEqual(value)
      expect(changed.etag).not.toBe(etag)
    })

    test('and refuses *** where nothing is stored', async () => {
      await expect(configuration.sources.create(camera('rtsp://me:***@camera/1'))).rejects.toMatchObject({
        code: 'syntax',
        message: expect.stringMatching(/^\/address: /),
      })
    })
  })

  describe('after a file has ended', () => {
    test('remembers it over a restart', async () => {
      await configuration.sources.create(clip('a.mp4'))
      endSource(1)
      await configuration.sources.create(camera())
      await open()
      expect(plans.at(-1)?.sources.map(({ ended }) => ended)).toEqual([true, false])
    })

    test('plays it again once its source has been edited', async () => {
      const { value } = await configuration.sources.create(clip('a.mp4'))
      endSource(value.id)
      await configuration.sources.update(value.id, clip('a.mp4'))
      expect(plans.at(-1)?.sources[0]?.ended).toBe(false)
    })
  })

  describe('when a source goes', () => {
    test('names the pipelines that hold it', async () => {
      const { value } = await configuration.sources.create(camera())
      const pipeline = await configuration.pipelines.create(pipelineOf([value.id]))
      await expect(configuration.sources.remove(value.id, false)).rejects.toMatchObject({
        code: 'reference',
        value: { pipelines: [pipeline.value.id] },
      })
    })

    test('by force, leaves pipelines, their configs and filters; a filter left empty disconnects its sink', async () => {
      for (const url of ['rtsp://a/', 'rtsp://b/']) await configuration.sources.create(camera(url))
      await configuration.sinks.create({ ...discard, filter: [1] })
      await configuration.sinks.create({ ...discard, filter: [1, 2] })
      const config = { '1': lines, '2': lines }
      const pipeline = await configuration.pipelines.create({ ...pipelineOf([1, 2], config), sinks: [1, 2] })
      await configuration.sources.remove(1, true)
      expect(configuration.pipelines.get(pipeline.value.id).value).toMatchObject({
        elements: counting({ '2': lines }),
        sources: [2],
        sinks: [2],
      })
      expect(configuration.sinks.list().value.map(({ filter }) => filter)).toEqual([[], [2]])
    })
  })

  describe('of connections', () => {
    test('connects all or nothing', async () => {
      const { value } = await configuration.sources.create(camera())
      const pipeline = await configuration.pipelines.create(pipelineOf([]))
      await expect(configuration.connect(pipeline.value.id, 'sources', [value.id, 9])).rejects.toMatchObject({
        code: 'id',
        status: 400,
        value: { id: String(pipeline.value.id), sources: [9] },
      })
      expect(configuration.pipelines.get(pipeline.value.id).value.sources).toEqual([])
    })

    test('disconnects all or nothing', async () => {
      const { value } = await configuration.sources.create(camera())
      const pipeline = await configuration.pipelines.create(pipelineOf([value.id]))
      await expect(
        configuration.disconnect(pipeline.value.id, 'sources', [value.id, 9]),
      ).rejects.toMatchObject({
        value: { sources: [9] },
      })
      expect(configuration.pipelines.get(pipeline.value.id).value.sources).toEqual([value.id])
    })
  })

  describe('deployed whole', () => {
    const object = (sources: SourceInput[], config?: Record<string, unknown>, sinks: SinkInput[] = []) => ({
      sources,
      sinks,
      elements: counting(config),
      priority: 5,
    })

    test('makes a pipeline of each object; equal sources and sinks are one', async () => {
      const { value } = await configuration.deploy([
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
      await configuration.sources.create(camera('rtsp://before/'))
      const filtered = { ...discard, filter: [1] }
      const { value } = await configuration.deploy([
        object([camera('rtsp://a/'), camera('rtsp://b/')], { '0': lines, '1': lines }, [filtered]),
      ])
      expect(Object.keys(value.pipelines[0]?.elements[0]?.config ?? {})).toEqual(['2', '3'])
      expect(value.sinks[0]?.filter).toEqual([3])
    })

    test('keeps the ids, channels and plan of what is equal', async () => {
      const objects = [object([camera('rtsp://a/')], { '0': lines }), object([camera('rtsp://b/')])]
      const first = await configuration.deploy(objects)
      const plan = plans.at(-1)
      const again = await configuration.deploy(objects)
      expect(again).toEqual(first)
      const more = await configuration.deploy([object([camera('rtsp://c/')]), ...objects])
      expect(more.value.pipelines.slice(1)).toEqual(first.value.pipelines)
      expect(plans.at(-1)?.channels).toEqual(expect.arrayContaining(plan!.channels))
    })

    test('keeps a pipeline by its elements when its sources change', async () => {
      await configuration.deploy([object([camera('rtsp://a/')])])
      const { value } = await configuration.deploy([object([camera('rtsp://b/')])])
      expect(value.pipelines.map(({ id, sources }) => [id, sources])).toEqual([[1, [2]]])
    })

    test('takes hidden passwords from the source that looks the same', async () => {
      await configuration.deploy([object([camera('rtsp://me:secret@a/')])])
      await configuration.deploy([object([camera('rtsp://me:***@a/')])])
      expect(plans.at(-1)?.sources).toMatchObject([{ id: 1, address: { url: 'rtsp://me:secret@a/' } }])
    })

    test('may be empty', async () => {
      await configuration.deploy([object([camera()])])
      expect((await configuration.deploy([])).value).toEqual({ sources: [], sinks: [], pipelines: [] })
      expect(plans.at(-1)?.channels).toEqual([])
    })

    test.each([
      ['/1/sources/0/address', () => [object([camera()]), object([camera('http://a/')])]],
      ['/0/elements/0/config/1', () => [object([camera()], { '1': lines })]],
      ['/0/sinks/0/filter/0', () => [object([camera()], undefined, [{ ...discard, filter: [3] }])]],
      [
        '/0/sinks/0/address',
        () => [object([camera()], undefined, [{ ...discard, type: 'file', address: 'file:///etc/x' }])],
      ],
    ])('is refused as a whole, naming %s', async (place, body) => {
      await configuration.deploy([object([camera('rtsp://running/')])])
      const before = configuration.get()
      await expect(configuration.deploy(body() as never)).rejects.toMatchObject({
        code: 'syntax',
        message: expect.stringMatching(new RegExp(`^${place}: `)),
      })
      expect(configuration.get()).toEqual(before)
    })
  })

  describe('accepts addresses', () => {
    test('of files that do not exist yet, under the media roots', async () => {
      const { value } = await configuration.sources.create(clip('later.mp4'))
      expect(value.address).toBe(join(folder, 'media', 'later.mp4'))
    })

    test.each([
      ['video', 'http://camera/'],
      ['video', 'rtsp'],
      ['file', '/etc/passwd'],
      ['file', 'rtsp://camera/'],
      ['file', 'media/relative.mp4'],
      ['file', 'test://ball'],
      ['file', 'file:///a%00b'],
      ['inf', `/${'x'.repeat(300)}`],
    ] as const)('but for %s not %s', async (type, address) => {
      await expect(configuration.sources.create({ ...camera(), type, address })).rejects.toMatchObject({
        code: 'syntax',
        message: expect.stringMatching(/^\/address: /),
      })
    })

    test('of a pattern for a source without an end', async () => {
      expect(
        (await configuration.sources.create({ ...camera(), type: 'inf', address: 'test://ball' })).value.id,
      ).toBe(1)
    })

    test('of sinks under the output roots only', async () => {
      const { value } = await configuration.sinks.create({
        type: 'file',
        address: `file://${folder}/output/a.jsonl`,
        filter: [],
      })
      expect(value.id).toBe(1)
      await expect(
        configuration.sinks.create({ type: 'file', address: `file://${folder}/media/a.jsonl`, filter: [] }),
      ).rejects.toMatchObject({ code: 'syntax' })
    })
  })
})
