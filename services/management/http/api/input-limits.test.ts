import { randomUUID } from 'node:crypto'
import { managementRoutes as routes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { deviceInput } from '../../../../test/fixtures/management/hierarchy.ts'
import { examples } from '../../../../test/fixtures/management/operation-examples.ts'
import {
  sharedManagement,
  sharedRecords,
} from '../../../../test/fixtures/management/shared-management.ts'

/** More than the 65,535 parameters that Postgres accepts in one query. */
const LIST_LENGTH = 70_000
const TEXT_LENGTH = 1_000_000

const management = sharedManagement()
const records = sharedRecords(management)

const createList = <T>(createItem: (index: number) => T) =>
  Array.from({ length: LIST_LENGTH }, (_, index) => createItem(index))

/** The expected response to a request with one invalid field. */
const rejectionOf = (field: string) => ({ status: 400, response: { fields: [{ field }] } })

describe('lists beyond the limits of the database', () => {
  it('are rejected in a field of ids', async () => {
    const input = { user_id: records.user_id, site_id: createList(() => randomUUID()) }
    expect(await management.call(routes.site.assign, input)).toMatchObject(rejectionOf('site_id'))
    const userConfig = { channel_ids: input.site_id }
    const config = { user_id: records.user_id, user_config: userConfig }
    expect(await management.call(routes.user.updateConfig, config)).toMatchObject(
      rejectionOf('user_config.channel_ids'),
    )
  })

  it('are rejected for the sources of a pipeline', async () => {
    const element = {
      name: 'line-crossing',
      config: { [createList(() => randomUUID()).join(',')]: {} },
    }
    const input = {
      ...examples.pipeline.create.input(records),
      pipeline_elements: { elements: [element] },
    }
    expect(await management.call(routes.pipeline.create, input)).toMatchObject({ status: 400 })
  })

  it('are rejected for streams and statistics', async () => {
    const device = { ...deviceInput(records.site_id, records.engine_id, 'many') }
    const deviceStreams = createList(id => ({ id }))
    expect(
      await management.call(routes.device.create, { ...device, device_streams: deviceStreams }),
    ).toMatchObject(rejectionOf('device_streams'))
    const stats = {
      ...examples.event.usecaseStats.input(records),
      usecase_meta_key: createList(() => 'up'),
    }
    expect(await management.send(routes.event.usecaseStats, stats)).toMatchObject(
      rejectionOf('usecase_meta_key'),
    )
  })
})

describe('text of a million characters', () => {
  // Parsing with quadratic complexity would take days.
  it.each([
    [routes.engine.create, examples.engine.create, 'engine_address', ':'],
    [routes.engine.create, examples.engine.create, 'engine_timeout', '1'],
    [routes.user.register, examples.user.register, 'email', 'a.'],
    [routes.user.auth, examples.user.auth, 'email', 'a@'],
    [routes.schedule.create, examples.schedule.create, 'schedule_name', ' '],
    [routes.alert.create, examples.alert.create, 'alert_threshold', '1'],
    [routes.event.usecaseStats, examples.event.usecaseStats, 'frequency', '1'],
    [routes.token.create, examples.token.create, 'expires_at', '2'],
  ] as const)('is rejected by %o', async (route, example, field, text) => {
    const { status, response } = await management.send(route, {
      ...example.input(records),
      [field]: `${text.repeat(TEXT_LENGTH / text.length)}x`,
    })
    expect(status).toBe(400)
    expect(response).toMatchObject({
      fields: expect.arrayContaining([expect.objectContaining({ field })]),
    })
  })
})

describe('module file', () => {
  const upload = async (text: string) => {
    const body = new FormData()
    body.set('modulefile', new File([text], 'test.csv'))
    const headers = { authorization: `Bearer ${management.superadmin.token}` }
    const reply = await management.request(routes.acl.upload.path, {
      method: 'POST',
      headers,
      body,
    })
    return { status: reply.status, ...((await reply.json()) as { response: unknown }) }
  }

  it('without rows is rejected and deletes no modules', async () => {
    expect((await upload('mod,live,Live,viewer,/live,\n')).status).toBe(200)
    for (const text of ['', '\n\n', 'type,key,name,role,path,module_key\n']) {
      expect(await upload(text)).toMatchObject(rejectionOf('modulefile'))
    }
    expect((await management.call(routes.acl.list, {})).response).toMatchObject([
      { module_key: 'live' },
    ])
  })

  it('with a value that the database cannot store is rejected, naming the cell', async () => {
    expect(await upload('mod,a\0b,Name,viewer,/a,\n')).toMatchObject(
      rejectionOf('modulefile.1.key'),
    )
    expect(await upload('mod,a,Na\0me,viewer,/a,\n')).toMatchObject(
      rejectionOf('modulefile.1.name'),
    )
    const key = Array.from({ length: 2000 }, (_, n) => String.fromCodePoint(0x4e00 + n)).join('')
    expect(await upload(`mod,${key},Name,viewer,/a,\n`)).toMatchObject(
      rejectionOf('modulefile.1.key'),
    )
  })
})
