import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { sharedManagement } from '../../../../../test/fixtures/shared-management.ts'

const { auth, refresh, logout, register, info, status, sessions, revokeSession } = managementRoutes.user
const password = 'correct horse'

const its = sharedManagement()
let number = 0

const registration = () => ({
  email: `person-${++number}@eyrie.test`,
  first_name: 'Ada',
  last_name: 'Byron',
  password,
  role_key: 'superadmin',
})

/** A verified user, who has no role. */
async function person() {
  const given = registration()
  const { user_id } = (await its.call(register, given, null)).response
  await its.call(status, { user_id, is_active: true, is_verified: true })
  return { email: given.email, user_id }
}

/** Somebody who has signed in by the API. */
async function signedIn() {
  const { email, user_id } = await person()
  const { access_token, refresh_token } = (await its.call(auth, { email, password }, null)).response
  return { me: { email, user_id, token: access_token }, refresh_token }
}

describe('signing in', () => {
  it('gives an access token, by which the user is known, and a refresh token', async () => {
    const { email, user_id } = await person()
    const { status: code, response } = await its.call(auth, { email: email.toUpperCase(), password }, null)
    expect(code).toBe(200)
    expect(response).toMatchObject({ token_type: 'Bearer', user: { user_id, email, is_verified: true } })
    expect(response.expires_in).toBeGreaterThan(0)
    const me = await its.call(info, undefined, { user_id, email, token: response.access_token })
    expect(me.response).toMatchObject({ user_id, email, user_config: { user_id, ui_config: {} } })
    expect(me.response.last_logged_in_at).toMatch(/^\d{4}-/)
  })

  it('answers alike, after as much hashing, for an address that nobody has and for a wrong password', async () => {
    const { email } = await person()
    const hashes = async (given: { email: string; password: string }) => {
      const before = its.passwords.computed
      const { status: code, message, response } = await its.send(auth, given, null)
      return { code, message, response, hashed: its.passwords.computed - before }
    }
    const wrong = await hashes({ email, password: 'another one' })
    expect(wrong).toMatchObject({ code: 404, hashed: 1 })
    expect(await hashes({ email: 'nobody@eyrie.test', password })).toEqual(wrong)
  })

  it.each(["' or 1=1 --", 'person%', '"; drop table "user"; --', '$1'])('takes %s as text', async email => {
    expect((await its.send(auth, { email, password }, null)).status).toBe(404)
  })

  it('names the fields that are missing', async () => {
    const { status: code, message } = await its.send(auth, {}, null)
    expect([code, message]).toEqual([400, 'email: is required; password: is required'])
  })
})

describe('attempts to sign in, at one moment', () => {
  const FREE = 10
  const moment = new Date()
  const still = sharedManagement({ now: () => moment })

  async function attempts(address: string, count: number) {
    const given = (n: number) => ({ email: address, password: `wrong ${n}` })
    const all = Array.from({ length: count }, (_, n) => still.send(auth, given(n), null))
    return (await Promise.all(all)).map(({ status: code }) => code)
  }

  it('are held up after failures, whether or not there is such a user', async () => {
    const { email } = (await still.call(register, registration(), null)).response
    for (const account of [email, 'stranger@eyrie.test']) {
      expect(await attempts(account, FREE)).toEqual(Array(FREE).fill(404))
      const held = await still.send(auth, { email: account, password }, null)
      expect([held.status, held.message]).toEqual([403, 'there were too many attempts: try again in 1 s'])
      expect(held.headers.get('retry-after')).toBe('1')
    }
  }, 60_000)

  it('are counted though they are made side by side', async () => {
    const codes = (await attempts('crowd@eyrie.test', FREE + 10)).sort()
    expect(codes).toEqual([...Array(10).fill(403), ...Array(FREE).fill(404)])
  }, 60_000)
})

describe('who has registered', () => {
  it('has no rights, whatever role was wished for, until verified', async () => {
    const given = registration()
    const { status: code, response } = await its.call(register, given, null)
    expect(code).toBe(201)
    const rightless = {
      role_id: null,
      role_key: '',
      role_wish: 'superadmin',
      is_verified: false,
      is_active: true,
    }
    expect(response).toMatchObject({ email: given.email, ...rightless, customer_ids: [], site_ids: [] })
    expect(JSON.stringify(response)).not.toMatch(/password|argon2/)
    const refused = await its.send(auth, { email: given.email, password }, null)
    expect([refused.status, refused.message]).toEqual([403, 'an administrator has to verify this user first'])
  })

  it.each(['is_verified', 'role_id', 'organization_id', 'password_hash', 'is_active'])(
    'could not set %s',
    async field => {
      const { status: code, message } = await its.send(register, { ...registration(), [field]: true }, null)
      expect([code, message]).toEqual([400, `${field}: unknown field`])
    },
  )

  it('is the only one with the e-mail address, however it is written', async () => {
    const { email } = await person()
    const again = await its.send(register, { ...registration(), email: email.toUpperCase() }, null)
    expect([again.status, again.message]).toEqual([409, 'email: another user has this already'])
  })

  it.each([
    ['email', 'no address'],
    ['password', 'short'],
  ])('has a valid %s', async (field, value) => {
    const { status: code, message } = await its.send(register, { ...registration(), [field]: value }, null)
    expect(code).toBe(400)
    expect(message).toMatch(`${field}: `)
  })
})

describe('a session', () => {
  it('goes on by refresh tokens, each of which is good once: who uses an old one ends it', async () => {
    const { me, refresh_token } = await signedIn()
    const { response: first } = await its.call(refresh, { refresh_token }, me)
    const { response: second } = await its.call(refresh, { refresh_token: first.refresh_token }, null)
    expect(new Set([refresh_token, first.refresh_token, second.refresh_token]).size).toBe(3)
    expect((await its.call(info, undefined, { ...me, token: second.access_token })).status).toBe(200)
    expect((await its.send(refresh, { refresh_token }, null)).status).toBe(401)
    expect((await its.send(refresh, { refresh_token: second.refresh_token }, null)).status).toBe(401)
    expect((await its.send(info, undefined, { ...me, token: second.access_token })).status).toBe(401)
  })

  it('outlives refresh tokens that were made up', async () => {
    const { me, refresh_token } = await signedIn()
    const forged = `${refresh_token.slice(0, -43)}${'A'.repeat(43)}`.replace(
      /rt_.{43}/,
      `rt_${'B'.repeat(43)}`,
    )
    expect((await its.send(refresh, { refresh_token: forged }, null)).status).toBe(401)
    expect((await its.send(refresh, { refresh_token: me.token }, null)).status).toBe(401)
    expect((await its.call(info, undefined, me)).status).toBe(200)
  })

  it('ends with signing out', async () => {
    const { me, refresh_token } = await signedIn()
    expect((await its.call(logout, { refresh_token }, me)).status).toBe(200)
    expect((await its.send(info, undefined, me)).status).toBe(401)
    expect((await its.send(refresh, { refresh_token }, null)).status).toBe(401)
  })

  it('is not ended by somebody else', async () => {
    const { me, refresh_token } = await signedIn()
    const other = await signedIn()
    expect((await its.send(logout, { refresh_token }, other.me)).status).toBe(404)
    const [mine] = (await its.call(sessions, {}, me)).response
    expect((await its.send(revokeSession, { session_id: mine!.session_id }, other.me)).status).toBe(404)
    expect((await its.send(sessions, { user_id: me.user_id }, other.me)).status).toBe(404)
    expect((await its.call(info, undefined, me)).status).toBe(200)
  })

  it('is listed, and can be ended from another', async () => {
    const { me } = await signedIn()
    const { response } = await its.call(auth, { email: me.email, password }, null)
    const listed = (await its.call(sessions, {}, me)).response
    expect(listed.map(({ is_current }) => is_current)).toEqual([true, false])
    await its.call(revokeSession, { session_id: listed[1]!.session_id }, me)
    expect((await its.send(info, undefined, { ...me, token: response.access_token })).status).toBe(401)
    expect((await its.call(sessions, {}, me)).response).toHaveLength(1)
  })

  it('ends when its user is deactivated, and stays so', async () => {
    const { me } = await signedIn()
    await its.call(status, { user_id: me.user_id, is_active: false, is_verified: true })
    expect((await its.send(info, undefined, me)).status).toBe(401)
    expect((await its.send(auth, { email: me.email, password }, null)).status).toBe(403)
    await its.call(status, { user_id: me.user_id, is_active: true, is_verified: true })
    expect((await its.send(info, undefined, me)).status).toBe(401)
  })
})
