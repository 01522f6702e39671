import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { sharedManagement, sharedRecords } from '../../../../../test/fixtures/shared-management.ts'

const { usecase, user, event } = managementRoutes

describe('usecases', () => {
  const its = sharedManagement()
  const made = sharedRecords(its)

  const keysFor = async (as = its.superadmin) =>
    (await its.call(usecase.list, undefined, as)).response.map(({ usecase_key }) => usecase_key)

  it('are all listed for a user without assigned usecases', async () => {
    const viewer = await its.signIn('viewer', { sites: [made.site_id] })
    expect(await keysFor(viewer)).toEqual(await keysFor())
    expect(await keysFor()).toContain('line-crossing')
  })

  it('are limited to the assigned ones and those of individually assigned channels', async () => {
    const { response } = await its.call(usecase.list)
    const { usecase_id } = response.find(({ usecase_key }) => usecase_key === 'occupancy')!
    const viewer = await its.signIn('viewer', { sites: [made.site_id] })
    const assign = (user_config: object) =>
      its.call(user.updateConfig, { user_id: viewer.user_id, user_config })
    const crossings = { usecase: 'line-crossing', usecase_meta_key: 'total' }

    await assign({ usecase_ids: [usecase_id] })
    expect(await keysFor(viewer)).toEqual(['occupancy'])
    expect((await its.call(event.usecaseStatsByQuery, crossings, viewer)).status).toBe(404)

    await assign({ channel_ids: [made.channel_id] })
    expect(await keysFor(viewer)).toEqual(['line-crossing', 'occupancy'])
    expect((await its.call(event.usecaseStatsByQuery, crossings, viewer)).status).toBe(200)
  })
})
