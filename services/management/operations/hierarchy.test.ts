import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  customerInput,
  deviceInput,
  type Hierarchy,
  idIn,
  makeHierarchy,
  organizationInput,
  siteInput,
  sourceInput,
} from '../../../test/fixtures/hierarchy.ts'
import { type ManagementUnderTest, startManagement } from '../../../test/fixtures/management.ts'
import { deviceStream } from '../db/schema/index.ts'

const { organization, customer, site, device, source, staticContent } = managementRoutes

describe('the hierarchy', () => {
  let its: ManagementUnderTest
  let made: Hierarchy
  beforeAll(async () => {
    its = await startManagement()
    made = await makeHierarchy(its, 'first')
  })
  afterAll(() => its.remove())

  describe('a customer', () => {
    it('shows what it was made of, with its sites', async () => {
      const { organization_id, customer_id, site_id } = made
      const { response } = await its.call(customer.id, { customer_id })
      expect(response).toMatchObject({ ...customerInput(organization_id, 'first'), customer_id })
      expect([response.customer_sites, response.customer_contact]).toEqual([[site_id], []])
    })

    it.each([
      'customer_address',
      'customer_description',
      'customer_icon',
      'customer_key',
      'customer_name',
      'organization_id',
    ])('needs %s', async field => {
      const { [field]: _, ...input } = customerInput(made.organization_id, 'lacking') as Record<
        string,
        unknown
      >
      const { status, message } = await its.send(customer.create, input)
      expect([status, message]).toEqual([400, `${field}: is required`])
    })

    it('shares its key with none of its organization, and with those of others', async () => {
      const taken = await its.call(customer.create, customerInput(made.organization_id, 'first'))
      expect([taken.status, taken.message]).toEqual([
        409,
        'organization_id, customer_key: another customer has this already',
      ])
      const other = idIn(await its.call(organization.create, organizationInput('other')))
      expect((await its.call(customer.create, customerInput(other, 'first'))).status).toBe(201)
    })

    it('takes sites over as it is made, and gives them back to the default customer', async () => {
      const { organization_id, customer_id, site_id } = made
      const input = { ...customerInput(organization_id, 'taker'), customer_sites: [site_id] }
      const taker = idIn(await its.call(customer.create, input))
      expect((await its.call(site.id, { site_id })).response.customer_id).toBe(taker)
      await its.call(customer.unassignSites, { customer_id: taker, site_ids: [site_id] })
      const all = (await its.call(customer.list, { organization_id, is_default: 'true' })).response
      const holder = all.find(({ customer_sites }) => customer_sites.includes(site_id))!
      expect(holder.customer_key).toBe('default')
      await its.call(customer.assignSites, { customer_id, site_ids: [site_id] })
      expect((await its.call(customer.id, { customer_id })).response.customer_sites).toEqual([site_id])
    })

    it('gives up no site that is not its own', async () => {
      const stranger = idIn(await its.call(customer.create, customerInput(made.organization_id, 'stranger')))
      const { status, message } = await its.call(customer.unassignSites, {
        customer_id: stranger,
        site_ids: [made.site_id],
      })
      expect([status, message]).toEqual([404, 'site_ids: there is no such site of this customer'])
    })

    it('takes no site of another organization', async () => {
      const other = idIn(await its.call(organization.create, organizationInput('far')))
      const far = idIn(await its.call(customer.create, customerInput(other, 'far')))
      const { status, message } = await its.call(customer.assignSites, {
        customer_id: far,
        site_ids: [made.site_id],
      })
      expect([status, message]).toEqual([404, 'customer_id, organization_id: there is no such record here'])
    })

    it('is listed without the default customer unless that is asked for', async () => {
      const { organization_id } = made
      const keys = async (query: object) =>
        (await its.call(customer.list, { organization_id, ...query })).response.map(each => each.customer_key)
      expect(await keys({})).not.toContain('default')
      expect(await keys({ is_default: 'true' })).toContain('default')
    })

    it('stays while it has sites', async () => {
      const { status, message } = await its.call(customer.delete, { customer_id: made.customer_id })
      expect([status, message]).toEqual([409, 'a site still refers to it: delete or change that first'])
    })

    it('goes when it has none, unless it is the default one', async () => {
      const { organization_id } = made
      const empty = idIn(await its.call(customer.create, customerInput(organization_id, 'empty')))
      expect((await its.call(customer.delete, { customer_id: empty })).status).toBe(200)
      const all = (await its.call(customer.list, { organization_id, is_default: 'true' })).response
      const { customer_id } = all.find(({ customer_key }) => customer_key === 'default')!
      expect((await its.call(customer.delete, { customer_id })).status).toBe(409)
    })

    it('is seen by site, with 202 while its engine has not been heard of', async () => {
      const { customer_id, site_id, device_id } = made
      const { status, response } = await its.call(customer.view, { customer_id, type: '1' })
      expect(status).toBe(202)
      expect(response).toMatchObject([{ site_id, site_devices: [{ device_id }] }])
    })

    it('is seen by usecase', async () => {
      const { customer_id, channel_id } = made
      const { response } = await its.call(customer.view, { customer_id, type: '2' })
      expect(response).toMatchObject([{ usecase_channels: [{ channel_id }] }])
    })

    it.each(['0', '3', 'one'])('has no view of the type %s', async type => {
      expect((await its.send(customer.view, { customer_id: made.customer_id, type })).status).toBe(400)
    })
  })

  describe('a site', () => {
    it('shows what it was made of and counts its devices', async () => {
      const { organization_id, customer_id, site_id } = made
      const { response } = await its.call(site.id, { site_id })
      expect(response).toMatchObject({ ...siteInput(organization_id, customer_id, 'first'), site_id })
      expect([response.site_total_devices, response.site_timezone]).toEqual([1, 'UTC'])
    })

    it.each(Object.keys(siteInput('', '', '')))('needs %s', async field => {
      const { [field]: _, ...input } = siteInput(made.organization_id, made.customer_id, 'lacking') as Record<
        string,
        unknown
      >
      const { status, message } = await its.send(site.create, input)
      expect([status, message]).toEqual([400, `${field}: is required`])
    })

    it('is in a time zone that there is', async () => {
      const input = {
        ...siteInput(made.organization_id, made.customer_id, 'zone'),
        site_timezone: 'Mars/Olympus',
      }
      const { status, message } = await its.call(site.create, input)
      expect([status, message]).toEqual([400, 'site_timezone: is no IANA time zone, such as Europe/Berlin'])
    })

    it('is viewed with its devices, and sent back as it was read', async () => {
      const { site_id, device_id } = made
      const view = (await its.call(site.view, { site_id })).response
      expect(view.site_devices).toMatchObject([{ device_id }])
      expect((await its.send(site.update, view)).status).toBe(200)
      expect((await its.call(site.view, { site_id })).response).toEqual(view)
    })

    it('stays while it has devices', async () => {
      expect((await its.call(site.delete, { site_id: made.site_id })).status).toBe(409)
    })
  })

  describe('a device', () => {
    it('shows what it was made of, and never its passwords', async () => {
      const { site_id, engine_id, device_id, source_id, channel_id } = made
      const { response } = await its.call(device.id, { device_id })
      const { device_streams, ...input } = deviceInput(site_id, engine_id, 'first')
      expect(response).toMatchObject({ ...input, device_status: 'unknown', device_state: false })
      expect(response.device_streams).toMatchObject([{ ...device_streams[0], password: '***' }])
      expect(response.device_source).toMatchObject([{ source_id, source_channels: [{ channel_id }] }])
      expect(response.device_sources).toEqual(response.device_source)
      expect(response.source_channels).toMatchObject([{ channel_id, device_id }])
    })

    it('keeps its passwords sealed, also when it is sent back as it was read', async () => {
      const { device_id } = made
      const stored = () =>
        its.database.system('test', tx =>
          tx.select().from(deviceStream).where(eq(deviceStream.device_id, device_id)),
        )
      const [before] = await stored()
      expect(before!.password).not.toContain('secret')
      const { response } = await its.call(device.view, { device_id })
      expect((await its.send(device.update, { ...response, device_name: 'Renamed' })).status).toBe(200)
      expect(await stored()).toEqual([before])
      expect((await its.call(device.id, { device_id })).response.device_name).toBe('Renamed')
    })

    it('keeps a stream that a source reads', async () => {
      const { response } = await its.call(device.id, { device_id: made.device_id })
      const { status, message } = await its.send(device.update, { ...response, device_streams: [] })
      expect([status, message]).toEqual([409, 'a source still refers to it: delete or change that first'])
    })

    it.each(['device_identifier', 'device_name', 'device_type', 'site_id', 'engine_id', 'device_tags'])(
      'needs %s',
      async field => {
        const { [field]: _, ...input } = deviceInput(made.site_id, made.engine_id, 'lacking') as Record<
          string,
          unknown
        >
        const { status, message } = await its.send(device.create, input)
        expect([status, message]).toEqual([400, `${field}: is required`])
      },
    )

    it('answers its id when it is made, and goes when nothing reads it', async () => {
      const { site_id, engine_id } = made
      const { status, response } = await its.call(device.create, deviceInput(site_id, engine_id, 'second'))
      expect([status, Object.keys(response)]).toEqual([201, ['device_id']])
      const listed = (await its.call(device.list, { site_id })).response.map(({ device_id }) => device_id)
      expect(listed).toContain(response.device_id)
      expect((await its.call(device.delete, response)).status).toBe(200)
      expect((await its.call(device.id, response)).status).toBe(404)
    })
  })

  describe('a source', () => {
    it('shows what it was made of', async () => {
      const { device_id, engine_id, source_id, channel_id } = made
      const { response } = await its.call(source.id, { source_id })
      expect(response).toMatchObject({ ...sourceInput(device_id, engine_id, 'Source first'), source_id })
      expect(response.source_channels).toMatchObject([{ channel_id }])
      expect((await its.call(source.list, { device_id })).response).toEqual([response])
    })

    it.each(['device_id', 'engine_id', 'source_name', 'stream_id'])('needs %s', async field => {
      const { [field]: _, ...input } = sourceInput(made.device_id, made.engine_id, 'lacking') as Record<
        string,
        unknown
      >
      const { status, message } = await its.send(source.create, input)
      expect([status, message]).toEqual([400, `${field}: is required`])
    })

    it('reads a stream that its device has', async () => {
      const input = { ...sourceInput(made.device_id, made.engine_id, 'no stream'), stream_id: 7 }
      const { status, message } = await its.call(source.create, input)
      expect([status, message]).toEqual([404, 'device_id, stream_id: there is no such record here'])
    })

    it('is updated as it was read, and stays while a channel reads it', async () => {
      const { source_id } = made
      const { response } = await its.call(source.id, { source_id })
      expect((await its.send(source.update, { ...response, source_fps: 12.5 })).status).toBe(200)
      expect((await its.call(source.id, { source_id })).response.source_fps).toBe(12.5)
      expect((await its.call(source.delete, { source_id })).status).toBe(409)
    })

    it('is found by its site with the engine that reads it', async () => {
      const { site_id, engine_id, source_id } = made
      const { response } = await its.call(source.mapping, { is_default: 'false', site_id })
      expect(response).toMatchObject({ is_default: false, site_id, engine_id, engine_address: '127.0.0.1' })
      expect(response.sources).toMatchObject([{ source_id }])
    })
  })

  describe('static content', () => {
    const line = {
      id: 4,
      static_content_name: 'Door',
      static_content_type: 'line',
      static_content_data: { points: [] },
    }

    it('is made, read, changed, listed by device and removed', async () => {
      const { source_id, device_id } = made
      const static_id = idIn(await its.call(staticContent.create, { ...line, source_id }))
      const whole = { ...line, source_id, static_content_id: static_id }
      expect((await its.call(staticContent.id, { static_id })).response).toEqual(whole)
      await its.call(staticContent.update, { ...whole, static_content_name: 'Gate' })
      const { response } = await its.call(staticContent.list, { device_id })
      expect(response).toEqual([{ ...whole, static_content_name: 'Gate' }])
      await its.call(staticContent.delete, { static_content_id: static_id })
      expect((await its.call(staticContent.list, { device_id })).response).toEqual([])
    })

    it('has a number of its own on its source', async () => {
      const { source_id } = made
      await its.call(staticContent.create, { ...line, source_id })
      expect((await its.call(staticContent.create, { ...line, source_id })).status).toBe(409)
    })

    it.each(['id', 'source_id', 'static_content_data', 'static_content_name', 'static_content_type'])(
      'needs %s',
      async field => {
        const { [field]: _, ...input } = { ...line, source_id: made.source_id } as Record<string, unknown>
        const { status, message } = await its.send(staticContent.create, input)
        expect([status, message]).toEqual([400, `${field}: is required`])
      },
    )
  })
})
