import { managementRoutes } from '@eyrie/contract/management/index'
import { v7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { getInvalidFields } from '../../../../../test/fixtures/management/alert-input.ts'
import { getCreatedId, sourceInput } from '../../../../../test/fixtures/management/hierarchy.ts'
import {
  sharedHierarchy,
  sharedManagement,
} from '../../../../../test/fixtures/management/shared-management.ts'
import { engineState } from '../../../db/schema/index.ts'

const { pipeline, source } = managementRoutes

describe('pipelines', () => {
  const management = sharedManagement()
  const hierarchy = sharedHierarchy(management, 'first')
  let keys = 100

  const crossing = (config: Record<string, unknown> = {}) => ({
    name: 'line-crossing',
    args: {},
    config,
  })
  const input = (more: Record<string, unknown> = {}) => ({
    engine_id: hierarchy.engine_id,
    pipeline_name: 'Crossings',
    pipeline_usecase: 'line-crossing',
    pipeline_reference_key: ++keys,
    pipeline_elements: { elements: [{ name: 'motion', args: { history: 5 } }] } as Record<
      string,
      unknown
    >,
    ...more,
  })
  const create = async (more: Record<string, unknown> = {}) =>
    getCreatedId(await management.send(pipeline.create, input(more)))

  it('are created with null, and Location points to them', async () => {
    const given = input()
    const { status, response, headers } = await management.send(pipeline.create, given)
    expect([status, response]).toEqual([201, null])
    const read = await management.request(headers.get('location')!.replace('/api/v1', ''), {
      headers: { authorization: `Bearer ${management.superadmin.token}` },
    })
    expect((await read.json()) as { response: unknown }).toMatchObject({
      response: { ...given, pipeline_id: getCreatedId({ headers } as never), pipeline_source: [] },
    })
  })

  it.each([
    ['pipeline_name', ' '],
    ['pipeline_usecase', 5],
    ['pipeline_reference_key', '5'],
    ['pipeline_reference_key', 1.5],
    ['pipeline_reference_key', 2 ** 31],
    ['pipeline_elements', []],
    ['pipeline_source', 'first'],
    ['pipeline_source.0', ['first']],
    ['colour', 'red'],
  ])('reject %s: %j', async (field, value) => {
    const { status, response } = await management.send(
      pipeline.create,
      input({ [field.split('.')[0]!]: value }),
    )
    expect([status, getInvalidFields(response)]).toEqual([400, [field]])
  })

  it.each([
    [{}, 'pipeline_elements.elements'],
    [{ elements: [] }, 'pipeline_elements.elements'],
    [{ elements: [{}] }, 'pipeline_elements.elements.0.name'],
    [{ elements: [{ name: 'motion', args: 5 }] }, 'pipeline_elements.elements.0.args'],
    [{ elements: [{ name: 'motion' }], more: 1 }, 'pipeline_elements.more'],
  ])('reject the elements %j', async (pipelineElements, field) => {
    const { status, response } = await management.send(
      pipeline.create,
      input({ pipeline_elements: pipelineElements }),
    )
    expect([status, getInvalidFields(response)]).toEqual([400, [field]])
  })

  it('ignore the sources in the input and list those of their channels', async () => {
    const pipelineId = await create({ pipeline_source: [7] })
    const { response } = await management.call(pipeline.get, { pipeline_id: pipelineId })
    expect(response.pipeline_source).toEqual([])
    expect(
      (await management.send(pipeline.update, { ...response, pipeline_name: 'Renamed' })).status,
    ).toBe(200)
    expect(
      (await management.call(pipeline.get, { pipeline_id: pipelineId })).response.pipeline_name,
    ).toBe('Renamed')
  })

  it('have a number that is unique on their engine', async () => {
    const { pipeline_reference_key } = (
      await management.call(pipeline.get, { pipeline_id: await create() })
    ).response
    const { status, response } = await management.send(
      pipeline.create,
      input({ pipeline_reference_key }),
    )
    expect([status, getInvalidFields(response)]).toEqual([
      409,
      expect.arrayContaining(['pipeline_reference_key']),
    ])
  })

  it('reject an unknown engine, usecase or source', async () => {
    const { source_id: sourceId } = hierarchy
    await create({ pipeline_elements: { elements: [crossing({ [sourceId]: {} })] } })
    const nobody = v7()
    for (const [wrong, field] of [
      [{ engine_id: nobody }, 'engine_id'],
      [{ pipeline_usecase: 'none' }, 'pipeline_usecase'],
      [
        { pipeline_elements: { elements: [crossing({ [nobody]: {} })] } },
        `pipeline_elements.elements: ${nobody}`,
      ],
    ] as const) {
      const { status, response } = await management.send(pipeline.create, input(wrong))
      expect([status, getInvalidFields(response)]).toEqual([404, [field]])
    }
  })

  it('reject config keys that name no source, naming the key and what is allowed', async () => {
    const { engine_id, source_id: sourceId } = hierarchy
    // As an engine reports it when it connects.
    const configSchema = { type: 'object', propertyNames: { pattern: '^\\d+(, ?\\d+)*$' } }
    const element = {
      ...{ name: 'door-crossing', version: '1.0.0', title: '', description: '', passthrough: true },
      ...{
        params_schema: null,
        params_mapping: {},
        config_schema: configSchema,
        input_schema: null,
        output_schema: null,
      },
    }
    const catalog = { engine_catalog: { elements: [element] } }
    await management.database.system('test', tx =>
      tx
        .insert(engineState)
        .values({ engine_id, ...catalog })
        .onConflictDoUpdate({ target: engineState.engine_id, set: catalog }),
    )
    const withConfig = (config: Record<string, unknown>, name = 'door-crossing') =>
      input({ pipeline_elements: { elements: [{ name: 'motion' }, { name, config }] } })
    const field = 'pipeline_elements.elements.1.config'

    const created = await management.send(pipeline.create, withConfig({ [sourceId]: {} }))
    expect(created.status).toBe(201)
    for (const key of ['', ' ', '0', 'entrance', `${sourceId},`]) {
      const { status, message, response } = await management.send(
        pipeline.create,
        withConfig({ [key]: {} }),
      )
      expect([status, getInvalidFields(response)]).toEqual([400, [field]])
      expect(message).toBe(
        `${field}: "${key}" does not name a source: the keys of this config are ids of sources, as /source/list returns them, several separated by commas`,
      )
    }
    const update = { ...withConfig({ '': {} }), pipeline_id: getCreatedId(created) }
    expect((await management.send(pipeline.update, update)).status).toBe(400)

    const twice = withConfig({ [sourceId]: {}, [` ${sourceId}`]: {} })
    expect((await management.send(pipeline.create, twice)).message).toContain(
      'appears more than once',
    )
    const unknown = await management.send(
      pipeline.create,
      withConfig({ '': {} }, 'unknown-element'),
    )
    expect([unknown.status, unknown.message]).toEqual([
      400,
      `${field}: "" is not a valid key: a key must not be empty`,
    ])
  })

  it('drop references to a deleted source, so that they can be sent back unchanged', async () => {
    const { device_id: deviceId, engine_id: engineId, source_id: sourceId } = hierarchy
    const gone = getCreatedId(
      await management.call(source.create, sourceInput(deviceId, engineId, 'gone')),
    )
    const config = {
      [gone.toUpperCase()]: { lines: [1] },
      [`${gone}, ${sourceId}`]: { lines: [2] },
      other: 3,
    }
    const elements = [crossing(config), { name: 'motion', args: { history: 5 } }]
    const pipelineId = await create({ pipeline_elements: { elements } })
    const other = await create()
    expect((await management.call(source.delete, { source_id: gone })).status).toBe(200)
    const { response } = await management.call(pipeline.get, { pipeline_id: pipelineId })
    expect(response.pipeline_elements).toEqual({
      elements: [crossing({ [sourceId]: { lines: [2] }, other: 3 }), elements[1]],
    })
    expect((await management.send(pipeline.update, response)).status).toBe(200)
    const untouched = (await management.call(pipeline.get, { pipeline_id: other })).response
    expect(untouched.pipeline_elements).toEqual(input().pipeline_elements)
  })

  it('are deleted when no channel uses them', async () => {
    const { pipeline_id: pipelineId } = (
      await management.call(managementRoutes.channel.get, { channel_id: hierarchy.channel_id })
    ).response
    const held = await management.send(pipeline.delete, { pipeline_id: pipelineId })
    expect([held.status, held.message]).toEqual([409, expect.stringContaining('channel')])
    const free = await create()
    const listed = (await management.call(pipeline.list)).response.map(each => each.pipeline_id)
    expect(listed).toEqual(expect.arrayContaining([pipelineId, free]))
    expect(await management.call(pipeline.delete, { pipeline_id: free })).toMatchObject({
      status: 200,
      response: null,
    })
    expect((await management.call(pipeline.get, { pipeline_id: free })).status).toBe(404)
  })

  it.each(['line-crossing', 'occupancy', 'social-distancing', 'ppe', 'fire-smoke', 'collision'])(
    'begins with the standard elements of %s',
    async usecaseKey => {
      const { status, response } = await management.call(pipeline.defaultElement, {
        usecase_key: usecaseKey,
      })
      expect(status).toBe(200)
      expect(response.default_data.elements[0]).toMatchObject({ name: 'infer' })
    },
  )

  it('have no default elements for an unknown usecase', async () => {
    const { status, response } = await management.send(pipeline.defaultElement, {
      usecase_key: 'none',
    })
    expect([status, getInvalidFields(response)]).toEqual([404, ['usecase_key']])
  })
})
