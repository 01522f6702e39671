import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { getCreatedId } from '../../../../../test/fixtures/management/hierarchy.ts'
import {
  sharedHierarchy,
  sharedManagement,
} from '../../../../../test/fixtures/management/shared-management.ts'

const { staticContent } = managementRoutes

describe('static content', () => {
  const management = sharedManagement()
  const hierarchy = sharedHierarchy(management, 'first')

  const line = {
    id: 4,
    static_content_name: 'Door',
    static_content_type: 'line',
    static_content_data: { points: [] },
  }

  it('is created, read, updated, listed by device and deleted', async () => {
    const { source_id, device_id } = hierarchy
    const staticId = getCreatedId(
      await management.call(staticContent.create, { ...line, source_id }),
    )
    const whole = { ...line, source_id, static_content_id: staticId }
    expect((await management.call(staticContent.get, { static_id: staticId })).response).toEqual(
      whole,
    )
    await management.call(staticContent.update, { ...whole, static_content_name: 'Gate' })
    const { response } = await management.call(staticContent.list, { device_id })
    expect(response).toEqual([{ ...whole, static_content_name: 'Gate' }])
    await management.call(staticContent.delete, { static_content_id: staticId })
    expect((await management.call(staticContent.list, { device_id })).response).toEqual([])
  })

  it('has a number that is unique on its source', async () => {
    const { source_id } = hierarchy
    await management.call(staticContent.create, { ...line, source_id })
    expect((await management.call(staticContent.create, { ...line, source_id })).status).toBe(409)
  })
})
