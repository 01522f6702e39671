import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'
import { signIn } from '../../../users/sign-in.ts'

const { auth, refresh, logout, register, getCurrent, setStatus, listSessions, revokeSession } =
  managementRoutes.user
const password = 'correct horse'

const management = sharedManagement()
let number = 0

const registration = () => ({
  email: `person-${++number}@eyrie.test`,
  first_name: 'Ada',
  last_name: 'Byron',
  password,
  role_key: 'superadmin',
})

/**
 * Registers and verifies a user without a role. An administrator may register any number of users.
 */
async function registerVerifiedUser() {
  const registered = registration()
  const { user_id } = (await management.call(register, registered)).response
  await management.call(setStatus, { user_id, is_active: true, is_verified: true })
  return { email: registered.email, user_id }
}

/** Registers a user and signs in. */
async function registerAndSignIn() {
  const { email, user_id } = await registerVerifiedUser()
  const { access_token: accessToken, refresh_token } = (
    await management.call(auth, { email, password }, null)
  ).response
  return { me: { email, user_id, token: accessToken }, refresh_token }
}

describe('sign-in', () => {
  it('returns an access token that identifies the user, and a refresh token', async () => {
    const { email, user_id } = await registerVerifiedUser()
    const { status: code, response } = await management.call(
      auth,
      { email: email.toUpperCase(), password },
      null,
    )
    expect(code).toBe(200)
    expect(response).toMatchObject({
      token_type: 'Bearer',
      user: { user_id, email, is_verified: true },
    })
    expect(response.expires_in).toBeGreaterThan(0)
    const me = await management.call(getCurrent, undefined, {
      user_id,
      email,
      token: response.access_token,
    })
    expect(me.response).toMatchObject({ user_id, email, user_config: { user_id, ui_config: {} } })
    expect(me.response.last_logged_in_at).toMatch(/^\d{4}-/)
  })

  it('rejects an unknown address like a wrong password, after the same amount of hashing', async () => {
    const { email } = await registerVerifiedUser()
    const hashes = async (registered: { email: string; password: string }) => {
      const before = management.users.passwords.hashCount
      const { status: code, message, response } = await management.send(auth, registered, null)
      return { code, message, response, hashed: management.users.passwords.hashCount - before }
    }
    const wrong = await hashes({ email, password: 'another one' })
    expect(wrong).toMatchObject({ code: 404, hashed: 1 })
    expect(await hashes({ email: 'nobody@eyrie.test', password })).toEqual(wrong)
  })

  it.each(["' or 1=1 --", 'person%', '"; drop table "user"; --', '$1'])(
    'treats %s as text',
    async email => {
      expect((await management.send(auth, { email, password }, null)).status).toBe(404)
    },
  )

  it('names the missing fields', async () => {
    const { status: code, message } = await management.send(auth, {}, null)
    expect([code, message]).toEqual([400, 'email: is required; password: is required'])
  })
})

describe('sign-in attempts', () => {
  const FREE = 10
  const moment = new Date()
  const still = sharedManagement({ now: () => moment })

  async function attempts(address: string, count: number) {
    const registered = (n: number) => ({ email: address, password: `wrong ${n}` })
    const all = Array.from({ length: count }, (_, n) => still.send(auth, registered(n), null))
    return (await Promise.all(all)).map(({ status: code }) => code)
  }

  it('are blocked after failures, whether or not the user exists', async () => {
    const { email } = (await still.call(register, registration(), null)).response
    for (const account of [email, 'stranger@eyrie.test']) {
      expect(await attempts(account, FREE)).toEqual(Array(FREE).fill(404))
      const held = await still.send(auth, { email: account, password }, null)
      expect([held.status, held.message]).toEqual([403, 'too many attempts: try again in 1 s'])
      expect(held.headers.get('retry-after')).toBe('1')
    }
  }, 180_000)

  it('are counted when they are concurrent', async () => {
    const codes = (await attempts('crowd@eyrie.test', FREE + 10)).sort()
    expect(codes).toEqual([...Array(10).fill(403), ...Array(FREE).fill(404)])
  }, 180_000)
})

describe('sign-in attempts of a stranger', () => {
  it('do not lock the user out from another address', async () => {
    const { email } = await registerVerifiedUser()
    const { database, users } = management
    // The first block lasts only a second.
    const moment = new Date()
    const dependencies = { passwords: users.passwords, now: () => moment }
    const attempt = (address: string, tried: string) =>
      signIn(database, { email, password: tried }, { address, user_agent: '' }, dependencies)
    for (let n = 0; n < 10; n += 1) {
      await expect(attempt('192.0.2.66', `guess ${n}`)).rejects.toThrow(
        'no user has this e-mail address',
      )
    }
    await expect(attempt('192.0.2.66', password)).rejects.toThrow('too many attempts')
    expect(await attempt('192.0.2.7', password)).toMatchObject({ session_id: expect.any(String) })
  }, 180_000)
})

describe('registration', () => {
  let moment = new Date()
  const limited = sharedManagement({ now: () => moment })
  const closed = sharedManagement({ settings: { management: { registration: false } } })

  it('is limited to ten an hour and address', async () => {
    const registerNext = () => limited.send(register, registration(), null)
    for (let n = 0; n < 10; n += 1) expect((await registerNext()).status).toBe(201)
    const refused = await registerNext()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([403, '3600'])
    expect((await limited.send(register, registration())).status).toBe(201)
    moment = new Date(moment.getTime() + 3_600_000)
    expect((await registerNext()).status).toBe(201)
  }, 180_000)

  it('can be switched off for all but administrators', async () => {
    const refused = await closed.send(register, registration(), null)
    expect([refused.status, refused.message]).toEqual([
      403,
      'registration is switched off: ask an administrator for an account',
    ])
    const viewer = await closed.signIn('viewer')
    expect((await closed.send(register, registration(), viewer)).status).toBe(403)
    expect((await closed.send(register, registration())).status).toBe(201)
  })
})

describe('a registered user', () => {
  it('has no rights until verified, with any requested role', async () => {
    const registered = registration()
    const { status: code, response } = await management.call(register, registered, null)
    expect(code).toBe(201)
    const rightless = {
      role_id: null,
      role_key: '',
      role_wish: 'superadmin',
      is_verified: false,
      is_active: true,
    }
    expect(response).toMatchObject({
      email: registered.email,
      ...rightless,
      customer_ids: [],
      site_ids: [],
    })
    expect(JSON.stringify(response)).not.toMatch(/password|argon2/)
    const refused = await management.send(auth, { email: registered.email, password }, null)
    expect([refused.status, refused.message]).toEqual([
      403,
      'an administrator has to verify this user first',
    ])
  })

  it.each(['is_verified', 'role_id', 'organization_id', 'password_hash', 'is_active'])(
    'could not set %s',
    async field => {
      const { status: code, message } = await management.send(
        register,
        { ...registration(), [field]: true },
        null,
      )
      expect([code, message]).toEqual([400, `${field}: unknown field`])
    },
  )

  it('has a unique e-mail address, regardless of case', async () => {
    const { email } = await registerVerifiedUser()
    const again = await management.send(
      register,
      { ...registration(), email: email.toUpperCase() },
      null,
    )
    expect([again.status, again.message]).toEqual([409, 'email: another user has this already'])
  })

  it.each([
    ['email', 'no address'],
    ['password', 'short'],
  ])('must have a valid %s', async (field, value) => {
    const { status: code, message } = await management.send(
      register,
      { ...registration(), [field]: value },
      null,
    )
    expect(code).toBe(400)
    expect(message).toMatch(`${field}: `)
  })
})

describe('a session', () => {
  it('continues with single-use refresh tokens, and ends when an old one is reused', async () => {
    const { me, refresh_token: refreshToken } = await registerAndSignIn()
    const { response: first } = await management.call(refresh, { refresh_token: refreshToken }, me)
    const { response: second } = await management.call(
      refresh,
      { refresh_token: first.refresh_token },
      null,
    )
    expect(new Set([refreshToken, first.refresh_token, second.refresh_token]).size).toBe(3)
    expect(
      (await management.call(getCurrent, undefined, { ...me, token: second.access_token })).status,
    ).toBe(200)
    expect((await management.send(refresh, { refresh_token: refreshToken }, null)).status).toBe(401)
    expect(
      (await management.send(refresh, { refresh_token: second.refresh_token }, null)).status,
    ).toBe(401)
    expect(
      (await management.send(getCurrent, undefined, { ...me, token: second.access_token })).status,
    ).toBe(401)
  })

  it('is unaffected by forged refresh tokens', async () => {
    const { me, refresh_token: refreshToken } = await registerAndSignIn()
    const forged = `${refreshToken.slice(0, -43)}${'A'.repeat(43)}`.replace(
      /rt_.{43}/,
      `rt_${'B'.repeat(43)}`,
    )
    expect((await management.send(refresh, { refresh_token: forged }, null)).status).toBe(401)
    expect((await management.send(refresh, { refresh_token: me.token }, null)).status).toBe(401)
    expect((await management.call(getCurrent, undefined, me)).status).toBe(200)
  })

  it('ends with sign-out', async () => {
    const { me, refresh_token } = await registerAndSignIn()
    expect((await management.call(logout, { refresh_token }, me)).status).toBe(200)
    expect((await management.send(getCurrent, undefined, me)).status).toBe(401)
    expect((await management.send(refresh, { refresh_token }, null)).status).toBe(401)
  })

  it('cannot be ended by another user', async () => {
    const { me, refresh_token } = await registerAndSignIn()
    const other = await registerAndSignIn()
    expect((await management.send(logout, { refresh_token }, other.me)).status).toBe(404)
    const [mine] = (await management.call(listSessions, {}, me)).response
    expect(
      (await management.send(revokeSession, { session_id: mine!.session_id }, other.me)).status,
    ).toBe(404)
    expect((await management.send(listSessions, { user_id: me.user_id }, other.me)).status).toBe(
      404,
    )
    expect((await management.call(getCurrent, undefined, me)).status).toBe(200)
  })

  it('is listed, and can be ended from another session', async () => {
    const { me } = await registerAndSignIn()
    const { response } = await management.call(auth, { email: me.email, password }, null)
    const listed = (await management.call(listSessions, {}, me)).response
    expect(listed.map(({ is_current }) => is_current)).toEqual([true, false])
    await management.call(revokeSession, { session_id: listed[1]!.session_id }, me)
    expect(
      (await management.send(getCurrent, undefined, { ...me, token: response.access_token }))
        .status,
    ).toBe(401)
    expect((await management.call(listSessions, {}, me)).response).toHaveLength(1)
  })

  it('ends when its user is deactivated, and does not resume', async () => {
    const { me } = await registerAndSignIn()
    await management.call(setStatus, { user_id: me.user_id, is_active: false, is_verified: true })
    expect((await management.send(getCurrent, undefined, me)).status).toBe(401)
    expect((await management.send(auth, { email: me.email, password }, null)).status).toBe(403)
    await management.call(setStatus, { user_id: me.user_id, is_active: true, is_verified: true })
    expect((await management.send(getCurrent, undefined, me)).status).toBe(401)
  })
})
