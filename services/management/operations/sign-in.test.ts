import { managementRoutes } from '@eyrie/contract/management/index'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ManagementUnderTest, startManagement } from '../../../test/fixtures/management.ts'

const { auth, refresh, logout, register, info, status } = managementRoutes.user
const password = 'correct horse'

let its: ManagementUnderTest
let number = 0

/** A verified user who has not signed in. */
async function person() {
  const email = `person-${++number}@eyrie.test`
  const { response } = await its.call(
    register,
    { email, first_name: 'Ada', last_name: 'Byron', password, role_key: 'viewer' },
    null,
  )
  await its.call(status, { user_id: response.user_id, is_active: true, is_verified: true })
  return { email, user_id: response.user_id }
}

beforeAll(async () => {
  its = await startManagement()
})
afterAll(() => its.remove())

describe('signing in', () => {
  it('gives an access token, by which the user is known, and a refresh token', async () => {
    const { email, user_id } = await person()
    const { status: code, response } = await its.call(auth, { email, password }, null)
    expect(code).toBe(200)
    expect(response).toMatchObject({ token_type: 'Bearer', user: { user_id, email, is_verified: true } })
    expect(response.expires_in).toBeGreaterThan(0)
    const me = await its.call(info, undefined, { user_id, email, token: response.access_token })
    expect(me.response).toMatchObject({ user_id, email, user_config: { user_id, ui_config: {} } })
    expect(me.response.last_logged_in_at).toMatch(/^\d{4}-/)
  })
})
