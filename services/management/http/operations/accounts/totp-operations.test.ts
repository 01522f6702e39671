import { managementRoutes, signInChallenge } from '@eyrie/contract/management/index'
import { beforeEach, describe, expect, it } from 'vitest'
import { showCode } from '../../../../../test/fixtures/management/authenticator-app.ts'
import type { SignedInUser } from '../../../../../test/fixtures/management/management.ts'
import { insertRecords } from '../../../../../test/fixtures/management/records.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'
import { totp } from '../../../db/schema/index.ts'
import { resetPassword } from '../../../users/reset-password.ts'

const {
  auth,
  authCode,
  register,
  setStatus,
  getCurrent,
  update,
  getTotp,
  enrollTotp,
  confirmTotp,
  renewRecoveryCodes,
  disableTotp,
  resetTotp,
} = managementRoutes.user
const password = 'correct horse'
const STEP_MS = 30_000

/** The time of management, which the access token of the superadmin must not outlive. */
let moment = new Date()
const management = sharedManagement({ now: () => moment })
let number = 0

/** A code of a later time step has not been used yet. */
function waitForNextCode() {
  moment = new Date(moment.getTime() + STEP_MS)
}

beforeEach(() => {
  moment = new Date()
})

/** Registers a verified user and signs in. */
async function createUser(): Promise<SignedInUser> {
  const email = `person-${++number}@eyrie.test`
  const names = { first_name: 'Ada', last_name: 'Byron', role_key: 'viewer' }
  const { user_id } = (await management.call(register, { email, password, ...names })).response
  await management.call(setStatus, { user_id, is_active: true, is_verified: true })
  const { access_token: accessToken } = (await management.call(auth, { email, password }, null))
    .response
  return { user_id, email, token: accessToken }
}

/** Creates a user with a confirmed authenticator app. */
async function createUserWithApp() {
  const user = await createUser()
  const { uri } = (await management.call(enrollTotp, {}, user)).response
  const confirmed = await management.call(confirmTotp, { code: showCode(uri, moment) }, user)
  const { recovery_codes } = confirmed.response
  waitForNextCode()
  return { user, recovery_codes, code: () => showCode(uri, moment) }
}

/** Sends the correct password and returns the challenge. */
async function requestChallenge({ email }: SignedInUser): Promise<string> {
  const answer = await management.send(auth, { email, password }, null)
  expect([answer.status, answer.message]).toEqual([
    401,
    'a code of your authenticator app is required: send it with the challenge',
  ])
  return signInChallenge.parse(answer.response).challenge
}

const submit = (challenge: string, code: string) =>
  management.send(authCode, { challenge, code }, null)

async function signInWith(user: SignedInUser, code: string) {
  const { status: answered } = await submit(await requestChallenge(user), code)
  return answered
}

describe('registration of an authenticator app', () => {
  it('takes effect only when a code has confirmed it', async () => {
    const user = await createUser()
    const enrolled = (await management.call(enrollTotp, {}, user)).response
    expect(enrolled.uri).toMatch(/^otpauth:\/\/totp\/Eyrie:person-\d+%40eyrie\.test\?/)
    expect(enrolled.uri).toContain(`secret=${enrolled.secret}`)
    const signIn = () => management.send(auth, { email: user.email, password }, null)
    expect((await signIn()).status).toBe(200)
    expect((await management.send(confirmTotp, { code: '000000' }, user)).status).toBe(409)
    expect((await signIn()).status).toBe(200)

    const code = showCode(enrolled.uri, moment)
    const confirmed = await management.call(confirmTotp, { code }, user)
    expect(new Set(confirmed.response.recovery_codes).size).toBe(10)
    expect((await signIn()).status).toBe(401)
    const { response } = await management.call(getTotp, undefined, user)
    expect(response).toEqual({
      is_enabled: true,
      enabled_at: moment.toISOString(),
      recovery_codes_left: 10,
      has_provider: false,
    })
  })

  it('stores the secret encrypted and shows it only once', async () => {
    const { user } = await createUserWithApp()
    const rows = await management.database.system('test', tx => tx.select().from(totp))
    for (const { secret } of rows) expect(secret).toMatch(/^sealed1:/)
    const again = await management.send(enrollTotp, {}, user)
    expect([again.status, again.message]).toEqual([
      409,
      'an authenticator app is registered already: remove it first',
    ])
  })

  it('requires the password when the sign-in was longer than five minutes ago', async () => {
    const user = await createUser()
    moment = new Date(moment.getTime() + 300_000)
    expect((await management.send(enrollTotp, {}, user)).status).toBe(403)
    expect((await management.send(enrollTotp, { current_password: 'wrong' }, user)).status).toBe(
      403,
    )
    expect((await management.send(enrollTotp, { current_password: password }, user)).status).toBe(
      200,
    )
  })
})

describe('a sign-in with an authenticator app', () => {
  it('needs the password and a code, and returns the tokens of a session', async () => {
    const { user, code } = await createUserWithApp()
    const challenge = await requestChallenge(user)
    const completed = await management.call(authCode, { challenge, code: code() }, null)
    const token = completed.response.access_token
    expect((await management.call(getCurrent, undefined, { ...user, token })).response.email).toBe(
      user.email,
    )
  })

  it('accepts the codes of the neighbouring time steps, and no others', async () => {
    const { user, code } = await createUserWithApp()
    for (const [steps, expected] of [
      [-2, 403],
      [-1, 200],
      [1, 200],
      [2, 403],
    ] as const) {
      const shown = code()
      moment = new Date(moment.getTime() - steps * STEP_MS)
      expect({ steps, answered: await signInWith(user, shown) }).toEqual({
        steps,
        answered: expected,
      })
      moment = new Date(moment.getTime() + 10 * STEP_MS)
    }
  })

  it('accepts a code once, also with another challenge and in another order', async () => {
    const { user, code } = await createUserWithApp()
    const earlier = code()
    waitForNextCode()
    const used = code()
    expect(await signInWith(user, used)).toBe(200)
    expect(await signInWith(user, used)).toBe(403)
    expect(await signInWith(user, earlier)).toBe(403)
  })

  it('lets one of two concurrent requests with the same code pass', async () => {
    const { user, code } = await createUserWithApp()
    const challenges = [await requestChallenge(user), await requestChallenge(user)]
    const answers = await Promise.all(challenges.map(challenge => submit(challenge, code())))
    expect(answers.map(answer => answer.status).sort()).toEqual([200, 403])
  })

  it('accepts a challenge once, for five minutes, and for nothing but a sign-in', async () => {
    const { user, code } = await createUserWithApp()
    const challenge = await requestChallenge(user)
    expect(
      (await management.send(getCurrent, undefined, { ...user, token: challenge })).status,
    ).toBe(401)
    expect((await submit(challenge, code())).status).toBe(200)
    waitForNextCode()
    const reused = await submit(challenge, code())
    expect([reused.status, reused.message]).toEqual([
      401,
      'this sign-in has expired: start again with your password',
    ])

    const late = await requestChallenge(user)
    moment = new Date(moment.getTime() + 300_000)
    expect((await submit(late, code())).status).toBe(401)
  })

  it('ends a waiting sign-in when the password is changed', async () => {
    const { user, code } = await createUserWithApp()
    const challenge = await requestChallenge(user)
    const { response } = await management.call(getCurrent, undefined, user)
    await management.call(update, {
      user_id: user.user_id,
      email: user.email,
      role_id: response.role_id,
      change_password: true,
      password: 'another horse',
      confirm_password: 'another horse',
    })
    expect((await submit(challenge, code())).status).toBe(401)
  })

  it('counts wrong codes, which a correct password does not reset', async () => {
    const { user, code } = await createUserWithApp()
    for (let n = 0; n < 4; n += 1) expect(await signInWith(user, '000000')).toBe(403)
    const challenge = await requestChallenge(user)
    // Four passwords, four codes and this password have been counted.
    await submit(challenge, '000000')
    const blocked = await submit(challenge, code())
    expect([blocked.status, blocked.message]).toEqual([403, 'too many attempts: try again in 1 s'])
    expect(blocked.headers.get('retry-after')).toBe('1')
    expect((await management.send(auth, { email: user.email, password }, null)).status).toBe(403)
  })

  it('is not needed by API tokens', async () => {
    const { user } = await createUserWithApp()
    const roles = (await management.call(managementRoutes.role.list)).response
    const roleId = roles.find(({ role_key }) => role_key === 'viewer')!.role_id
    const { user_id, email } = user
    await management.call(update, { user_id, email, role_id: roleId, change_password: false })
    const input = { name: 'script', scopes: ['read'] }
    const { token } = (await management.call(managementRoutes.token.create, input, user)).response
    expect((await management.send(getCurrent, undefined, { ...user, token })).status).toBe(200)
    expect((await management.send(getTotp, undefined, { ...user, token })).status).toBe(403)
  })

  it('is refused for a user who was deactivated between the steps', async () => {
    const { user, code } = await createUserWithApp()
    const challenge = await requestChallenge(user)
    await management.call(setStatus, { user_id: user.user_id, is_active: false, is_verified: true })
    expect((await submit(challenge, code())).status).toBe(401)
  })
})

describe('recovery codes', () => {
  it('are each good for one sign-in, in any spelling', async () => {
    const { user, recovery_codes: recoveryCodes } = await createUserWithApp()
    const [first = '', second = ''] = recoveryCodes
    expect(await signInWith(user, first)).toBe(200)
    expect(await signInWith(user, first)).toBe(403)
    expect(await signInWith(user, second.toUpperCase().replaceAll('-', ' '))).toBe(200)
    const { response } = await management.call(getTotp, undefined, user)
    expect(response.recovery_codes_left).toBe(8)
  })

  it('let one of two concurrent requests with the same code pass', async () => {
    const { user, recovery_codes: recoveryCodes } = await createUserWithApp()
    const challenges = [await requestChallenge(user), await requestChallenge(user)]
    const answers = await Promise.all(
      challenges.map(challenge => submit(challenge, recoveryCodes[0]!)),
    )
    expect(answers.map(answer => answer.status).sort()).toEqual([200, 403])
  })

  it('become invalid when they are replaced, which needs the password and a code', async () => {
    const { user, code, recovery_codes: recoveryCodes } = await createUserWithApp()
    const renew = (input: object) => management.send(renewRecoveryCodes, input, user)
    expect((await renew({ current_password: 'wrong', code: code() })).status).toBe(403)
    expect((await renew({ current_password: password, code: '000000' })).status).toBe(403)
    const input = { current_password: password, code: code() }
    const renewed = (await management.call(renewRecoveryCodes, input, user)).response.recovery_codes
    expect(await signInWith(user, recoveryCodes[0]!)).toBe(403)
    expect(await signInWith(user, renewed[0]!)).toBe(200)
  })
})

describe('removal of an authenticator app', () => {
  it('needs the password and a code', async () => {
    const { user, code } = await createUserWithApp()
    const disable = (input: object) => management.send(disableTotp, input, user)
    expect((await disable({ current_password: 'wrong', code: code() })).status).toBe(403)
    expect((await disable({ current_password: password, code: '000000' })).status).toBe(403)
    expect((await disable({ current_password: password, code: code() })).status).toBe(200)
    expect((await management.send(auth, { email: user.email, password }, null)).status).toBe(200)
  })

  it('is possible for an administrator of the user, and in the audit log', async () => {
    const { organization_id: organizationId } = await insertRecords(management.database)
    const { user } = await createUserWithApp()
    const admin = await management.signIn('admin', { organization: organizationId })
    const reset = (as: SignedInUser) => management.send(resetTotp, { user_id: user.user_id }, as)
    expect((await reset(admin)).status).toBe(404)
    const { response } = await management.call(getCurrent, undefined, user)
    const unchanged = { email: user.email, role_id: response.role_id, change_password: false }
    await management.call(update, {
      user_id: user.user_id,
      ...unchanged,
      organization_id: organizationId,
    })
    expect((await reset(admin)).status).toBe(200)
    expect((await management.send(auth, { email: user.email, password }, null)).status).toBe(200)

    const entries = await management.call(managementRoutes.audit.list, { record: 'totp' }, admin)
    expect(entries.response[0]).toMatchObject({
      actor: admin.email,
      operation: '/user/totp/reset',
      change: 'delete',
      before: { user_id: user.user_id, secret: '***' },
    })
  })

  it('is not possible for administrators themselves without a code', async () => {
    const { superadmin } = management
    const refused = await management.send(resetTotp, { user_id: superadmin.user_id })
    expect([refused.status, refused.message]).toEqual([
      409,
      'user_id: is you: /user/totp/disable removes your own authenticator app',
    ])
  })

  it('is a part of the password reset by the operator', async () => {
    const { user } = await createUserWithApp()
    const roles = (await management.call(managementRoutes.role.list)).response
    const roleId = roles.find(({ role_key }) => role_key === 'admin')!.role_id
    const { user_id, email } = user
    await management.call(update, { user_id, email, role_id: roleId, change_password: false })
    const dependencies = {
      passwords: management.users.passwords,
      principals: { clear() {}, getOrLoad: async () => undefined },
      now: () => moment,
    }
    const generated = await resetPassword(management.database, email, dependencies)
    expect((await management.send(auth, { email, password: generated }, null)).status).toBe(200)
  })
})
