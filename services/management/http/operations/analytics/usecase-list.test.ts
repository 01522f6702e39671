import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import {
  sharedManagement,
  sharedRecords,
} from '../../../../../test/fixtures/management/shared-management.ts'

const { usecase, user, event } = managementRoutes

describe('usecases', () => {
  const management = sharedManagement()
  const records = sharedRecords(management)

  const keysFor = async (as = management.superadmin) =>
    (await management.call(usecase.list, undefined, as)).response.map(
      ({ usecase_key }) => usecase_key,
    )

  it('are all listed for a user without assigned usecases', async () => {
    const viewer = await management.signIn('viewer', { sites: [records.site_id] })
    expect(await keysFor(viewer)).toEqual(await keysFor())
    expect(await keysFor()).toContain('line-crossing')
  })

  it('are limited to the assigned ones and those of individually assigned channels', async () => {
    const { response } = await management.call(usecase.list)
    const { usecase_id: usecaseId } = response.find(
      ({ usecase_key }) => usecase_key === 'occupancy',
    )!
    const viewer = await management.signIn('viewer', { sites: [records.site_id] })
    const assign = (userConfig: object) =>
      management.call(user.updateConfig, { user_id: viewer.user_id, user_config: userConfig })
    const crossings = { usecase: 'line-crossing', usecase_meta_key: 'total' }

    await assign({ usecase_ids: [usecaseId] })
    expect(await keysFor(viewer)).toEqual(['occupancy'])
    expect((await management.call(event.usecaseStatsByQuery, crossings, viewer)).status).toBe(404)

    await assign({ channel_ids: [records.channel_id] })
    expect(await keysFor(viewer)).toEqual(['line-crossing', 'occupancy'])
    expect((await management.call(event.usecaseStatsByQuery, crossings, viewer)).status).toBe(200)
  })
})
