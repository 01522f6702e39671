import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { idIn } from '../../../../../test/fixtures/hierarchy.ts'
import { sharedHierarchy, sharedManagement } from '../../../../../test/fixtures/shared-management.ts'

const { staticContent } = managementRoutes

describe('static content', () => {
  const its = sharedManagement()
  const made = sharedHierarchy(its, 'first')

  const line = {
    id: 4,
    static_content_name: 'Door',
    static_content_type: 'line',
    static_content_data: { points: [] },
  }

  it('is created, read, updated, listed by device and deleted', async () => {
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

  it('has a number that is unique on its source', async () => {
    const { source_id } = made
    await its.call(staticContent.create, { ...line, source_id })
    expect((await its.call(staticContent.create, { ...line, source_id })).status).toBe(409)
  })
})
