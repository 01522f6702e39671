import { beforeEach, describe, expect, test } from 'vitest'
import {
  camera,
  counting,
  discard,
  line,
  type OpenConfiguration,
  openConfiguration,
  pipelineOf,
} from '../../../test/fixtures/configuration.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'

describe('the configuration', () => {
  let folder: string
  let opened: OpenConfiguration

  const open = async () => {
    opened = await openConfiguration(folder)
  }
  beforeEach(async () => {
    folder = temporaryFolder()
    await open()
  })

  describe('when a source goes', () => {
    test('names the pipelines that hold it', async () => {
      const { value } = await opened.configuration.sources.create(camera())
      const pipeline = await opened.configuration.pipelines.create(pipelineOf([value.id]))
      await expect(opened.configuration.sources.remove(value.id, false)).rejects.toMatchObject({
        code: 'reference',
        value: { pipelines: [pipeline.value.id] },
      })
    })

    test('by force, leaves pipelines, their configs and filters; a filter left empty disconnects its sink', async () => {
      for (const url of ['rtsp://a/', 'rtsp://b/']) await opened.configuration.sources.create(camera(url))
      await opened.configuration.sinks.create({ ...discard, filter: [1] })
      await opened.configuration.sinks.create({ ...discard, filter: [1, 2] })
      const config = { '1': line, '2': line }
      const pipeline = await opened.configuration.pipelines.create({
        ...pipelineOf([1, 2], config),
        sinks: [1, 2],
      })
      await opened.configuration.sources.remove(1, true)
      expect(opened.configuration.pipelines.get(pipeline.value.id).value).toMatchObject({
        elements: counting({ '2': line }),
        sources: [2],
        sinks: [2],
      })
      expect(opened.configuration.sinks.list().value.map(({ filter }) => filter)).toEqual([[], [2]])
    })
  })

  describe('of connections', () => {
    test('connects all or nothing', async () => {
      const { value } = await opened.configuration.sources.create(camera())
      const pipeline = await opened.configuration.pipelines.create(pipelineOf([]))
      await expect(
        opened.configuration.connect(pipeline.value.id, 'sources', [value.id, 9]),
      ).rejects.toMatchObject({
        code: 'id',
        status: 400,
        value: { id: String(pipeline.value.id), sources: [9] },
      })
      expect(opened.configuration.pipelines.get(pipeline.value.id).value.sources).toEqual([])
    })

    test('disconnects all or nothing', async () => {
      const { value } = await opened.configuration.sources.create(camera())
      const pipeline = await opened.configuration.pipelines.create(pipelineOf([value.id]))
      await expect(
        opened.configuration.disconnect(pipeline.value.id, 'sources', [value.id, 9]),
      ).rejects.toMatchObject({
        value: { sources: [9] },
      })
      expect(opened.configuration.pipelines.get(pipeline.value.id).value.sources).toEqual([value.id])
    })
  })
})
