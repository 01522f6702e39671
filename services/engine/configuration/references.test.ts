import { describe, expect, test } from 'vitest'
import {
  createCameraSource,
  createLineCrossingElements,
  createLineCrossingPipeline,
  discardSink,
  lineConfig,
} from '../../../test/fixtures/engine/configuration.ts'
import { useFreshConfiguration } from '../../../test/fixtures/engine/fresh-configuration.ts'

const fresh = useFreshConfiguration()

describe('configuration', () => {
  describe('deletion of a source', () => {
    test('is rejected with a list of the connected pipelines', async () => {
      const { value } = await fresh.configuration.sources.create(createCameraSource())
      const pipeline = await fresh.configuration.pipelines.create(
        createLineCrossingPipeline([value.id]),
      )
      await expect(
        fresh.configuration.sources.remove(value.id, { force: false }),
      ).rejects.toMatchObject({
        code: 'reference',
        message: 'source 1 is connected to pipelines 1: disconnect it, or add ?force=true',
        value: { pipelines: [pipeline.value.id] },
      })
    })

    test('with force removes the source from pipelines, configs and filters, and disconnects sinks without a remaining source', async () => {
      for (const url of ['rtsp://a/', 'rtsp://b/']) {
        await fresh.configuration.sources.create(createCameraSource(url))
      }
      await fresh.configuration.sinks.create({ ...discardSink, filter: [1] })
      await fresh.configuration.sinks.create({ ...discardSink, filter: [1, 2] })
      const config = { '1': lineConfig, '2': lineConfig }
      const pipeline = await fresh.configuration.pipelines.create({
        ...createLineCrossingPipeline([1, 2], config),
        sinks: [1, 2],
      })
      await fresh.configuration.sources.remove(1, { force: true })
      expect(fresh.configuration.pipelines.get(pipeline.value.id).value).toMatchObject({
        elements: createLineCrossingElements({ '2': lineConfig }),
        sources: [2],
        sinks: [2],
      })
      expect(fresh.configuration.sinks.list().value.map(({ filter }) => filter)).toEqual([[], [2]])
    })
  })

  describe('connection of several resources', () => {
    test('connects either all or none', async () => {
      const { value } = await fresh.configuration.sources.create(createCameraSource())
      const pipeline = await fresh.configuration.pipelines.create(createLineCrossingPipeline([]))
      await expect(
        fresh.configuration.connect(pipeline.value.id, { kind: 'sources', ids: [value.id, 9] }),
      ).rejects.toMatchObject({
        code: 'id',
        status: 400,
        value: { id: String(pipeline.value.id), sources: [9] },
      })
      expect(fresh.configuration.pipelines.get(pipeline.value.id).value.sources).toEqual([])
    })

    test('disconnects either all or none', async () => {
      const { value } = await fresh.configuration.sources.create(createCameraSource())
      const pipeline = await fresh.configuration.pipelines.create(
        createLineCrossingPipeline([value.id]),
      )
      await expect(
        fresh.configuration.disconnect(pipeline.value.id, { kind: 'sources', ids: [value.id, 9] }),
      ).rejects.toMatchObject({
        value: { sources: [9] },
      })
      expect(fresh.configuration.pipelines.get(pipeline.value.id).value.sources).toEqual([value.id])
    })
  })
})
