import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { v7 } from 'uuid'
import { describe, expect, it, vi } from 'vitest'
import {
  owner,
  readCookie,
  sharedAccessControl,
  signIn,
} from '../../../../test/fixtures/management/shared-access-control.ts'
import { runEyrieCommand } from '../../../../test/fixtures/processes/command-line.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { apiToken, user } from '../../db/schema/index.ts'
import { claimRun, finishRun, listRequestedRuns, releaseRun } from '../../jobs/job-store.ts'

// The commands of `eyrie` that call the routes of the operator.

const { management, serve } = sharedAccessControl()

describe('eyrie open', () => {
  it('prints a link that works once', async () => {
    const origin = await serve('127.0.0.1')
    const environment = { EYRIE_MANAGEMENT_URL: origin }
    const { code, out } = await runEyrieCommand(['open'], { data: management.data, environment })
    expect([code, out]).toEqual([0, expect.stringMatching(/^http:\S+\/\?key=[\w-]{43}\n$/)])
    expect(new URL(out).origin).toBe(origin)
    const open = () => fetch(out.trim(), { redirect: 'manual' })
    expect((await open()).headers.getSetCookie()).toHaveLength(1)
    expect((await open()).headers.getSetCookie()).toEqual([])
  })

  it('is rejected without access to the data folder', async () => {
    const origin = await serve('127.0.0.1')
    const result = await runEyrieCommand(['open'], {
      data: createTemporaryFolder(),
      environment: { EYRIE_MANAGEMENT_URL: origin },
    })
    const reason = 'has no secrets/operator-token: start the appliance first, or set EYRIE_DATA'
    expect(result).toMatchObject({ code: 1, out: '', err: expect.stringContaining(reason) })
    const headers = { authorization: 'Bearer guessed' }
    expect((await fetch(`${origin}/operator/link`, { method: 'POST', headers })).status).toBe(401)
  })
})

describe('eyrie user reset', () => {
  it('prints a valid new password once and ends earlier sessions', async () => {
    const origin = await serve('127.0.0.1')
    const cookie = readCookie(await signIn(origin))
    await management.database.system('test', async tx => {
      const [row] = await tx.select().from(user).where(eq(user.email, owner.email))
      const secret = { scopes: ['read'], secret_hash: 'hash' }
      await tx.insert(apiToken).values({ user_id: row!.user_id, name: 'script', ...secret })
    })
    const environment = { EYRIE_MANAGEMENT_URL: origin }
    const { code, out } = await runEyrieCommand(['user', 'reset', owner.email], {
      data: management.data,
      environment,
    })
    expect(code).toBe(0)
    expect(
      await management.database.system('test', tx =>
        tx.select().from(apiToken).where(eq(apiToken.name, 'script')),
      ),
    ).toEqual([])
    const newPassword = /is (\S+)$/m.exec(out)![1]!
    expect((await signIn(origin)).status).toBe(404)
    expect(await (await fetch(`${origin}/session`, { headers: { cookie } })).json()).toMatchObject({
      user: null,
    })
    expect((await signIn(origin, { ...owner, password: newPassword })).status).toBe(204)
  })

  it('deletes the file with the first password unless it belongs to another user', async () => {
    const environment = { EYRIE_MANAGEMENT_URL: await serve('127.0.0.1') }
    const file = join(management.data, 'secrets/admin')
    for (const storedEmail of [owner.email.toUpperCase(), 'another@eyrie.test']) {
      writeFileSync(file, `${storedEmail}\nfirst password\n`)
      const { code } = await runEyrieCommand(['user', 'reset', owner.email], {
        data: management.data,
        environment,
      })
      expect([code, existsSync(file)]).toEqual([0, storedEmail === 'another@eyrie.test'])
    }
  })

  it('lists the superadmins when the address is unknown', async () => {
    const environment = { EYRIE_MANAGEMENT_PORT: new URL(await serve('127.0.0.1')).port }
    const result = await runEyrieCommand(['user', 'reset', 'nobody@eyrie.test'], {
      data: management.data,
      environment,
    })
    const message = `no administrator has the e-mail address nobody@eyrie.test; superadmins are ${owner.email}`
    expect(result).toMatchObject({ code: 1, err: expect.stringContaining(message) })
  })

  it('is rejected without the operator token', async () => {
    const origin = await serve('127.0.0.1')
    const reply = await fetch(`${origin}/operator/user/reset`, {
      method: 'POST',
      headers: { authorization: 'Bearer guessed' },
      body: JSON.stringify({ email: owner.email }),
    })
    expect(reply.status).toBe(401)
    expect(statSync(join(management.data, 'secrets/operator-token')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(management.data, 'secrets/operator-token'), 'utf8')).toHaveLength(43)
  })
})

describe('eyrie jobs run', () => {
  it('does not wait for a run whose result the next run has replaced', async () => {
    const environment = { EYRIE_MANAGEMENT_URL: await serve('127.0.0.1') }
    const { database, data } = management
    const ended = runEyrieCommand(['jobs', 'run', 'backup'], { data, environment })
    const run = await vi.waitFor(async () => {
      const [requested] = await database.system('test', tx => listRequestedRuns(tx))
      expect(requested).toBeDefined()
      return requested!
    })
    await database.system('test', async tx => {
      await claimRun(tx, 'backup', run.run_id)
      await finishRun(tx, run, { state: 'succeeded', message: 'stored' })
      await releaseRun(tx, 'backup', run.run_id)
      await claimRun(tx, 'backup', v7())
    })
    expect(await ended).toMatchObject({
      code: 1,
      err: expect.stringContaining('its next run has replaced its result already'),
    })
  })
})
