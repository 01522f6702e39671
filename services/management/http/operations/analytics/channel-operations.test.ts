import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { getCreatedId } from '../../../../../test/fixtures/management/hierarchy.ts'
import {
  sharedHierarchy,
  sharedManagement,
} from '../../../../../test/fixtures/management/shared-management.ts'

const { channel, pipeline, source, usecase, media } = managementRoutes

const management = sharedManagement()
const own = sharedHierarchy(management, 'own')
const other = sharedHierarchy(management, 'other')

let count = 1
const pipelineInput = (more: object = {}) => ({
  engine_id: own.engine_id,
  pipeline_name: 'Crossings',
  pipeline_usecase: 'line-crossing',
  pipeline_reference_key: ++count,
  pipeline_elements: {
    elements: [{ name: 'line-crossing', config: { [own.source_id]: { lines: [] } } }],
  },
  ...more,
})

describe('pipelines', () => {
  it('are created with 201 and null, read, listed, updated and deleted', async () => {
    const input = pipelineInput()
    const reply = await management.call(pipeline.create, input)
    expect([reply.status, reply.response]).toEqual([201, null])
    const pipelineId = getCreatedId(reply)
    const read = { ...input, pipeline_id: pipelineId, pipeline_source: [] }
    expect((await management.call(pipeline.get, { pipeline_id: pipelineId })).response).toEqual(
      read,
    )
    expect((await management.call(pipeline.list)).response).toContainEqual(read)
    await management.send(pipeline.update, { ...read, pipeline_name: 'Doors' })
    expect(
      (await management.call(pipeline.get, { pipeline_id: pipelineId })).response.pipeline_name,
    ).toBe('Doors')
    expect(await management.call(pipeline.delete, { pipeline_id: pipelineId })).toMatchObject({
      status: 200,
      response: null,
    })
    expect((await management.call(pipeline.get, { pipeline_id: pipelineId })).status).toBe(404)
  })

  it('have a reference key that is unique on their engine', async () => {
    const input = pipelineInput()
    await management.call(pipeline.create, input)
    expect(await management.call(pipeline.create, input)).toMatchObject({
      status: 409,
      message: expect.stringContaining('pipeline_reference_key'),
    })
    expect(
      (await management.call(pipeline.create, { ...input, engine_id: other.engine_id })).status,
    ).toBe(201)
  })

  it.each([
    [{ pipeline_usecase: 'nonsense' }, 404, 'pipeline_usecase'],
    [{ pipeline_elements: { elements: [] } }, 400, 'pipeline_elements.elements'],
    [{ pipeline_elements: { elements: [{ args: {} }] } }, 400, 'pipeline_elements.elements.0.name'],
    [{ pipeline_elements: [] }, 400, 'pipeline_elements'],
    [{ pipeline_reference_key: 'one' }, 400, 'pipeline_reference_key'],
    [{ pipeline_name: ' ' }, 400, 'pipeline_name'],
    [
      {
        pipeline_elements: {
          elements: [
            { name: 'line-crossing', config: { '0198a000-0000-7000-8000-000000000000': {} } },
          ],
        },
      },
      404,
      'source',
    ],
  ])('with %j are rejected with %i, naming %s', async (more, status, named) => {
    const reply = await management.send(pipeline.create, pipelineInput(more))
    expect([reply.status, reply.message]).toEqual([status, expect.stringContaining(named)])
  })

  it('cannot be deleted while a channel uses them', async () => {
    expect(await management.call(pipeline.delete, { pipeline_id: own.pipeline_id })).toMatchObject({
      status: 409,
      message: expect.stringContaining('channel'),
    })
  })

  it('have default elements for their usecase', async () => {
    const { status, response } = await management.call(pipeline.defaultElement, {
      usecase_key: 'line-crossing',
    })
    expect(status).toBe(200)
    const names = response.default_data.elements.map(({ name }) => name)
    expect(names).toEqual(['infer', 'object-tracking', 'line-crossing'])
    expect(
      await management.call(pipeline.defaultElement, { usecase_key: 'nonsense' }),
    ).toMatchObject({
      status: 404,
      message: expect.stringContaining('usecase_key'),
    })
  })
})

describe('channels', () => {
  const add = async (more: object = {}) => {
    const pipelineId = getCreatedId(await management.call(pipeline.create, pipelineInput()))
    const input = {
      ...{
        source_id: own.source_id,
        pipeline_id: pipelineId,
        usecase_key: 'line-crossing',
        channel_name: 'Door',
      },
      ...more,
    }
    return { input, reply: await management.call(channel.create, input) }
  }

  it('are created with 201 and their id, and returned with all fields', async () => {
    const { input, reply } = await add({ is_storage: true })
    const { channel_id: channelId } = reply.response
    expect([reply.status, getCreatedId(reply)]).toEqual([201, channelId])
    const { response } = await management.call(channel.get, { channel_id: channelId })
    expect(response).toEqual({
      ...input,
      channel_id: channelId,
      channel_key: '',
      channel_favorite: false,
      is_auto_recovery: false,
      channel_threshold_duration: 60,
      channel_sid: '',
      is_active: false,
      is_verified: false,
      device_id: own.device_id,
      engine_id: own.engine_id,
      site_id: own.site_id,
      usecase_id: expect.any(String),
      usecase_name: 'Line crossing',
      usecase_icon: '',
      usecase_meta_key: ['up', 'down', 'total'],
    })
    const { response: shown } = await management.call(source.get, { source_id: own.source_id })
    expect(shown.source_channels).toContainEqual(response)
  })

  it('are updated with the fields that were read, and keep omitted fields', async () => {
    const { response } = (await add()).reply
    const read = (await management.call(channel.get, response)).response
    expect(await management.send(channel.update, { ...read, channel_name: 'Gate' })).toMatchObject({
      status: 200,
    })
    await management.call(channel.update, {
      ...response,
      usecase_key: 'occupancy',
      channel_favorite: true,
    })
    expect((await management.call(channel.get, response)).response).toMatchObject({
      channel_name: 'Gate',
      usecase_key: 'occupancy',
      channel_favorite: true,
      source_id: own.source_id,
    })
  })

  it('are listed by site and by source', async () => {
    const idsOf = async (query: object) =>
      ((await management.send(channel.list, query)).response as { channel_id: string }[]).map(
        each => each.channel_id,
      )
    expect(await idsOf({ site_id: other.site_id })).toEqual([other.channel_id])
    expect(await idsOf({ source_id: other.source_id })).toEqual([other.channel_id])
    expect(await idsOf({})).toEqual(expect.arrayContaining([own.channel_id, other.channel_id]))
  })

  it('are unique for source and pipeline, which must be on the same engine', async () => {
    const { input } = await add()
    expect((await management.call(channel.create, input)).status).toBe(409)
    expect(
      await management.call(channel.create, { ...input, pipeline_id: other.pipeline_id }),
    ).toMatchObject({
      status: 409,
      message: expect.stringContaining('pipeline_id'),
    })
    expect(
      await management.call(channel.create, { ...input, usecase_key: 'nonsense' }),
    ).toMatchObject({
      status: 404,
      message: expect.stringContaining('usecase_key'),
    })
  })

  it('are deleted, and prevent the deletion of their source', async () => {
    expect(await management.call(source.delete, { source_id: own.source_id })).toMatchObject({
      status: 409,
      message: expect.stringContaining('channel'),
    })
    const { response } = (await add()).reply
    expect(await management.call(channel.delete, response)).toMatchObject({
      status: 200,
      response: null,
    })
    expect((await management.call(channel.get, response)).status).toBe(404)
  })

  it('have no live view without an engine, and are hidden from other organizations', async () => {
    const { response } = (await add()).reply
    expect((await management.call(media.ticket, response)).status).toBe(503)
    const viewer = await management.signIn('viewer', {
      organization: other.organization_id,
      sites: [other.site_id],
    })
    expect((await management.call(media.ticket, response, viewer)).status).toBe(404)
  })
})

it('usecases and their keys are predefined', async () => {
  const { response } = await management.call(usecase.list)
  const keys = Object.fromEntries(response.map(each => [each.usecase_key, each.usecase_meta_key]))
  expect(keys).toEqual({
    'line-crossing': ['up', 'down', 'total'],
    occupancy: ['occupancy', 'moving_average_count', 'dwell_time'],
    'social-distancing': ['violation', 'non_violation'],
    ppe: ['violation', 'non_violation'],
    'fire-smoke': ['fire', 'low_smoke', 'intermediate_smoke', 'high_smoke'],
    collision: ['frame_collision', 'frame_near_miss', 'total_collision', 'total_near_miss'],
  })
})
