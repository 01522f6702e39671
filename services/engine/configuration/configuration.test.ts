import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  createCameraSource,
  createFileSource,
  createLineCrossingPipeline,
} from '../../../test/fixtures/engine/configuration.ts'
import { useFreshConfiguration } from '../../../test/fixtures/engine/fresh-configuration.ts'

const fresh = useFreshConfiguration()

describe('configuration', () => {
  const file = () => join(fresh.folder, 'engine', 'configuration.json')

  describe('on disk', () => {
    test('is restored with its entity tags and applied to the runtime', async () => {
      const source = await fresh.configuration.sources.create(createCameraSource())
      await fresh.configuration.pipelines.create(createLineCrossingPipeline([source.value.id]))
      const before = fresh.configuration.get()
      const plan = fresh.plans.at(-1)
      await fresh.restart()
      expect(fresh.configuration.get()).toEqual(before)
      expect(fresh.plans).toEqual([plan])
    })

    test('contains passwords and tokens only encrypted', async () => {
      const { sources, sinks } = fresh.configuration
      const addresses = [
        'rtsp://me:xyzzy@camera/1',
        'http://camera/video?pwd=xyzzy',
        { url: 'rtsp://camera/2', username: 'me', password: 'xyzzy' },
        { url: 'http://camera/3', token: 'xyzzy' },
      ]
      for (const address of addresses) await sources.create({ ...createCameraSource(), address })
      const database = 'postgres://me:xyzzy@database/people'
      await sinks.create({ type: 'embedding', address: database, filter: [] })

      const stored = await readFile(file(), 'utf8')
      expect(stored).not.toContain('xyzzy')
      await fresh.restart()
      const [plan] = fresh.plans
      expect(plan!.sources.map(({ address }) => address)).toEqual(
        addresses.map(address => (typeof address === 'string' ? { url: address } : address)),
      )
      expect(await readFile(file(), 'utf8')).toBe(stored)
    })

    test('of an earlier release is encrypted on start', async () => {
      const { value } = await fresh.configuration.sources.create(
        createCameraSource('rtsp://me:xyzzy@camera/1'),
      )
      const before = fresh.configuration.get()
      const address = 'rtsp://me:xyzzy@camera/1'
      const { sources: _, ...rest } = JSON.parse(await readFile(file(), 'utf8'))
      await writeFile(
        file(),
        JSON.stringify({ ...rest, version: 1, sources: [{ ...value, address }] }),
      )

      await fresh.restart()
      expect(await readFile(file(), 'utf8')).not.toContain('xyzzy')
      expect(fresh.configuration.get()).toEqual(before)
      await fresh.restart()
      expect(fresh.plans.at(-1)?.sources[0]?.address).toEqual({ url: address })
    })

    test('is rejected and not modified without the key that it was encrypted with', async () => {
      await fresh.configuration.sources.create(createCameraSource('rtsp://me:xyzzy@camera/1'))
      const stored = await readFile(file(), 'utf8')
      const key = join(fresh.folder, 'secrets', 'engine-key')
      await rm(key)
      await expect(fresh.restart()).rejects.toThrow(`cannot be decrypted with the key in ${key}`)
      expect(await readFile(file(), 'utf8')).toBe(stored)
    })

    test('is readable only by its owner, because it contains passwords', async () => {
      await fresh.configuration.sources.create(createCameraSource())
      expect((await stat(file())).mode & 0o777).toBe(0o600)
    })

    test.each([
      ['is not JSON', () => '{"version":1,'],
      ['is empty', () => ''],
      [
        'lacks a field',
        (text: string) => JSON.stringify({ ...JSON.parse(text), sinks: undefined }),
      ],
      [
        'refers to missing objects',
        (text: string) => JSON.stringify({ ...JSON.parse(text), sources: [] }),
      ],
    ])('is rejected and not modified when it %s', async (_, damage) => {
      const source = await fresh.configuration.sources.create(createCameraSource())
      await fresh.configuration.pipelines.create(createLineCrossingPipeline([source.value.id]))
      const damaged = damage(await readFile(file(), 'utf8'))
      await writeFile(file(), damaged)
      await expect(fresh.restart()).rejects.toThrow(file())
      expect(await readFile(file(), 'utf8')).toBe(damaged)
    })

    test('is not called damaged when it cannot be read', async () => {
      await rm(file(), { force: true })
      await mkdir(file())
      await expect(fresh.restart()).rejects.toThrow(
        `the configuration file ${file()} cannot be read`,
      )
    })

    test('is not modified by a rejected edit', async () => {
      await fresh.configuration.sources.create(createCameraSource())
      const before = await readFile(file(), 'utf8')
      await expect(
        fresh.configuration.pipelines.create(createLineCrossingPipeline([7])),
      ).rejects.toMatchObject({
        code: 'id',
      })
      expect(await readFile(file(), 'utf8')).toBe(before)
      expect(fresh.plans).toHaveLength(2)
    })

    test('rejects an edit that cannot be written', async () => {
      await fresh.configuration.sources.create(createCameraSource())
      await rm(join(fresh.folder, 'engine'), { recursive: true })
      await expect(fresh.configuration.sources.create(createCameraSource())).rejects.toThrow()
      expect(fresh.configuration.sources.list().value).toHaveLength(1)
      expect(fresh.plans).toHaveLength(2)
    })
  })

  describe('ids', () => {
    test('are unique for concurrent creations', async () => {
      const created = await Promise.all(
        Array.from({ length: 50 }, () => fresh.configuration.sources.create(createCameraSource())),
      )
      const ids = created.map(({ value }) => value.id)
      expect(new Set(ids).size).toBe(50)
      await fresh.restart()
      expect(fresh.configuration.sources.list().value.map(({ id }) => id)).toEqual(ids)
    })

    test('are never reused, even after deletion and restart', async () => {
      const first = await fresh.configuration.sources.create(createCameraSource())
      await fresh.configuration.sources.remove(first.value.id, { force: false })
      await fresh.restart()
      expect(
        (await fresh.configuration.sources.create(createCameraSource())).value.id,
      ).toBeGreaterThan(first.value.id)
    })

    test('of channels belong to a source and a pipeline until one of them is deleted', async () => {
      const a = await fresh.configuration.sources.create(createCameraSource())
      const b = await fresh.configuration.sources.create(createCameraSource('rtsp://b/'))
      const pipeline = await fresh.configuration.pipelines.create(
        createLineCrossingPipeline([a.value.id, b.value.id]),
      )
      const before = fresh.configuration.channels()
      await fresh.configuration.disconnect(pipeline.value.id, {
        kind: 'sources',
        ids: [a.value.id],
      })
      expect(fresh.configuration.channels()).toEqual([before[1]])
      await fresh.restart()
      await fresh.configuration.connect(pipeline.value.id, { kind: 'sources', ids: [a.value.id] })
      expect(fresh.configuration.channels()).toEqual(before)
    })
  })

  describe('concurrent edits of one resource', () => {
    test('are rejected with an outdated entity tag', async () => {
      const { value, etag } = await fresh.configuration.sources.create(createCameraSource())
      await fresh.configuration.sources.modify(value.id, { rate: 5 }, { ifMatch: etag })
      await expect(
        fresh.configuration.sources.modify(value.id, { rate: 7 }, { ifMatch: etag }),
      ).rejects.toMatchObject({
        code: 'precondition',
        message: expect.stringMatching(/its ETag is now ".+": read it again$/),
      })
      expect(fresh.configuration.sources.get(value.id).value.rate).toBe(5)
    })

    test('are accepted exactly once with the same entity tag', async () => {
      const { value, etag } = await fresh.configuration.sources.create(createCameraSource())
      const edits = [1, 2, 3, 4, 5].map(rate =>
        fresh.configuration.sources.modify(value.id, { rate }, { ifMatch: etag }),
      )
      const results = await Promise.allSettled(edits)
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })
  })

  describe('a file that has been played to the end', () => {
    test('is not played again after a restart', async () => {
      await fresh.configuration.sources.create(createFileSource(fresh.folder, 'a.mp4'))
      fresh.endSource(1)
      await fresh.configuration.sources.create(createCameraSource())
      await fresh.restart()
      expect(fresh.plans.at(-1)?.sources.map(({ ended }) => ended)).toEqual([true, false])
    })

    test('is played again after an edit of its source', async () => {
      const { value } = await fresh.configuration.sources.create(
        createFileSource(fresh.folder, 'a.mp4'),
      )
      fresh.endSource(value.id)
      await fresh.configuration.sources.update(value.id, createFileSource(fresh.folder, 'a.mp4'))
      expect(fresh.plans.at(-1)?.sources[0]?.ended).toBe(false)
    })
  })
})
