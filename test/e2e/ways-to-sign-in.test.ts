// @module-tag long

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog, type ListeningServer, listen, readEnvironment } from '@eyrie/kit'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createManagement } from '../../services/management/management.ts'
import { openBrowser } from '../fixtures/browser/browser.ts'
import { showCode } from '../fixtures/management/authenticator-app.ts'
import {
  CLIENT_ID,
  CLIENT_SECRET,
  startIdentityProvider,
  type TestProvider,
} from '../fixtures/network/identity-provider.ts'
import { type PostgresServer, startPostgres } from '../fixtures/processes/postgres.ts'

const administrator = { email: 'owner@eyrie.test', password: 'correct = horse battery staple' }
const TIMEOUT = { timeout: 60_000 }

let browser: Browser
let postgres: PostgresServer
let provider: TestProvider
let origin: string
let stop = async () => {}
const data = mkdtempSync(join(tmpdir(), 'eyrie-ways-to-sign-in-'))

/**
 * Starts management as it runs on all addresses, where sign-in is required, and
 * reaches it by loopback.
 */
async function startManagement() {
  const environment = readEnvironment({
    EYRIE_DATA: data,
    EYRIE_HOST: '0.0.0.0',
    EYRIE_ENGINE_URL: 'http://127.0.0.1:9',
    EYRIE_MEDIA_URL: 'http://127.0.0.1:9',
    EYRIE_ADMIN_EMAIL: administrator.email,
    EYRIE_ADMIN_PASSWORD: administrator.password,
    EYRIE_EGRESS_ALLOW: 'identity=127.0.0.1',
    DATABASE_URL: `postgres://eyrie:plugh@127.0.0.1:${postgres.port}/eyrie`,
  })
  const service = createManagement({ environment, log: createLog('management', 'silent') })
  await service.start()
  const server: ListeningServer = await listen(service, '127.0.0.1', 0)
  origin = `http://127.0.0.1:${server.port}`
  stop = async () => {
    await Promise.all([service.stop(), server.close()])
  }
}

beforeAll(async () => {
  browser = await openBrowser()
  postgres = await startPostgres()
  await startManagement()
  provider = await startIdentityProvider(`${origin}/session/provider/callback`)
}, 180_000)
afterAll(async () => {
  await stop()
  await provider.close()
  await postgres.remove()
  await browser.close()
  rmSync(data, { recursive: true })
})

let context: BrowserContext
let page: Page
beforeEach(async () => {
  context = await browser.newContext()
  onTestFinished(() => context.close())
  page = await context.newPage()
  await page.goto(origin)
})

const button = (name: string) => page.getByRole('button', { name })
const codeField = () => page.getByRole('textbox', { name: /^Code/ })
const expectFocus = (name: string) =>
  expect.poll(() => page.evaluate('document.activeElement.name'), TIMEOUT).toBe(name)
const providerLink = () => page.getByRole('link', { name: 'Sign in with Test Provider' })

async function enterPassword() {
  await page.getByLabel('E-mail').fill(administrator.email)
  await page.getByLabel('Password').fill(administrator.password)
  await button('Sign in').click()
}

async function enterCode(code: string) {
  await codeField().fill(code)
  await button('Sign in').click()
}

/**
 * A code is good once, and tests sign in more often than every thirty seconds: they make
 * earlier codes good again.
 */
const forgetCodes = () => postgres.sql`update totp set last_step = 0`

describe('an authenticator app', () => {
  test('is set up on the account page, needed at the next sign-in, and removed', async () => {
    await enterPassword()
    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByLabel('Your password').fill(administrator.password)
    await button('Set up an authenticator app').click()
    await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor(TIMEOUT)
    const secret = await page.locator('code').textContent()
    const uri = `otpauth://totp/Eyrie?secret=${secret}&period=30&digits=6`
    const code = () => showCode(uri, new Date())

    await expectFocus('code')
    await codeField().fill('000000')
    await button('Confirm').click()
    await page.getByText('is not the current code of the app').waitFor(TIMEOUT)
    // Recovery codes are shown only once: a page that cannot be reloaded must not hide them.
    await page.route('**/user/totp', route => route.fulfill({ status: 503 }))
    await codeField().fill(code())
    await button('Confirm').click()
    await button('I have stored them').waitFor(TIMEOUT)
    await page.unroute('**/user/totp')
    const recoveryCodes = await page.locator('.recovery-codes code').allTextContents()
    expect(recoveryCodes.length).toBe(10)
    await button('I have stored them').click()
    await page.getByText('10 recovery codes are left').waitFor(TIMEOUT)
    await button('Sign out').click()

    await enterPassword()
    await expectFocus('code')
    await button('Start again').click()
    await expectFocus('email')
    await enterPassword()
    await enterCode('000000')
    await page.getByText('Code: is wrong or was used before').waitFor(TIMEOUT)
    expect(await context.cookies()).toEqual([])
    await enterCode(recoveryCodes[0]!)
    await page.getByText('9 recovery codes are left').waitFor(TIMEOUT)
    await button('Sign out').click()

    await forgetCodes()
    await enterPassword()
    await enterCode(code())
    await button('Remove the app').waitFor(TIMEOUT)
    await forgetCodes()
    await page.getByLabel('Your password').fill(administrator.password)
    await codeField().fill(code())
    await button('Remove the app').click()
    await button('Set up an authenticator app').waitFor(TIMEOUT)
    await button('Sign out').click()
    await enterPassword()
    await button('Sign out').waitFor(TIMEOUT)
  }, 180_000)
})

describe('an identity provider', () => {
  test('is configured by a superadmin, and then signs users in', async () => {
    await page.getByLabel('E-mail').waitFor(TIMEOUT)
    expect(await providerLink().count()).toBe(0)
    await enterPassword()
    await page.getByRole('link', { name: 'Identity provider' }).click()
    await page.getByLabel('Users can sign in with it').check()
    await page.getByLabel('Name on the sign-in page').fill('Test Provider')
    await page.getByLabel('Issuer').fill(provider.issuer)
    await page.getByLabel('Client ID').fill(CLIENT_ID)
    await page.getByLabel('Client secret').fill(CLIENT_SECRET)
    await page.getByLabel('Address of this console in browsers').fill(origin)
    await page.getByLabel('The first sign-in creates the user').check()
    await button('Add a group').click()
    await page.getByLabel('Group', { exact: true }).fill('guards')
    await page.getByRole('combobox', { name: /^Role/ }).selectOption('manager')
    await button('Save').click()
    await page.getByText('Saved.').waitFor(TIMEOUT)
    await page.getByLabel('Name on the sign-in page').fill('Not saved')
    await page.getByText('Saved.').waitFor({ ...TIMEOUT, state: 'detached' })
    await page.reload()
    await expect.poll(() => page.getByLabel('Client secret').inputValue(), TIMEOUT).toBe('***')
    await page.getByLabel('Name on the sign-in page').fill('Test Provider')
    await button('Save').click()
    await page.getByText('Saved.').waitFor(TIMEOUT)
    await button('Sign out').click()

    provider.answers.account = {
      sub: 'guard',
      claims: {
        email: 'guard@eyrie.test',
        email_verified: true,
        given_name: 'Grace',
        groups: ['guards'],
      },
    }
    await providerLink().click()
    await button('Sign out').waitFor(TIMEOUT)
    expect(await button('Sign out').getAttribute('title')).toBe('guard@eyrie.test')
    expect(await page.getByRole('link', { name: 'Identity provider' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByText('Your identity provider signs you in').waitFor(TIMEOUT)
    await button('Sign out').click()

    provider.answers.account.claims.groups = []
    await providerLink().click()
    await page.getByText('None of your groups at Test Provider has a role').waitFor(TIMEOUT)
    expect((await context.cookies(origin)).filter(({ name }) => name.startsWith('eyrie_'))).toEqual(
      [],
    )
    await page.reload()
    await providerLink().waitFor(TIMEOUT)
    expect(await page.getByRole('alert').textContent()).toBe('')

    await enterPassword()
    await page.getByRole('link', { name: 'Identity provider' }).click()
    await button('Disconnect guard@eyrie.test').click(TIMEOUT)
    await page.getByText('This ends all sessions of the user').waitFor(TIMEOUT)
    await button('Disconnect the user').click()
    await page.getByText('No user is connected').waitFor(TIMEOUT)
    await button('Sign out').click()
    provider.answers.account.claims.groups = ['guards']
    await providerLink().click()
    await page.getByRole('alert').filter({ hasText: 'guard@eyrie.test' }).waitFor(TIMEOUT)
  }, 180_000)
})
