import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog, type ListeningServer, listen, readEnvironment } from '@eyrie/kit'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createManagement } from '../../services/management/management.ts'
import { openBrowser } from '../fixtures/browser/browser.ts'
import { type PostgresServer, startPostgres } from '../fixtures/processes/postgres.ts'

const administrator = { email: 'owner@eyrie.test', password: 'correct = horse battery staple' }
const TIMEOUT = { timeout: 60_000 }

let browser: Browser
let postgres: PostgresServer
let origin: string
/** Stops management; does nothing before it is started. */
let stop = async () => {}
const data = mkdtempSync(join(tmpdir(), 'eyrie-sign-in-'))

/**
 * Starts management as it runs on all addresses, where sign-in is required, and
 * reaches it by loopback.
 */
async function start() {
  const environment = readEnvironment({
    EYRIE_DATA: data,
    EYRIE_HOST: '0.0.0.0',
    EYRIE_ENGINE_URL: 'http://127.0.0.1:9',
    EYRIE_MEDIA_URL: 'http://127.0.0.1:9',
    EYRIE_ADMIN_EMAIL: administrator.email,
    EYRIE_ADMIN_PASSWORD: administrator.password,
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
  await start()
}, 180_000)
afterAll(async () => {
  await stop()
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

const heading = () => page.getByRole('heading', { name: 'Sign in' })
const button = (name: string) => page.getByRole('button', { name })

async function fillIn({ email, password }: typeof administrator) {
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email)
  await page.getByLabel('Password').fill(password)
  // The message of the previous attempt is cleared before the response.
  const response = page.waitForResponse(received => received.request().method() === 'POST')
  await button('Sign in').click()
  await response
}

async function waitForAlert(text: RegExp) {
  const alert = page.getByRole('alert')
  await expect.poll(() => alert.textContent(), TIMEOUT).toMatch(text)
  return (await alert.textContent()) ?? ''
}

async function signIn() {
  await fillIn(administrator)
  await button('Sign out').waitFor(TIMEOUT)
}

describe('console with required sign-in', () => {
  test('shows only the sign-in page, then the requested page', async () => {
    await page.goto(`${origin}/recordings`)
    await heading().waitFor(TIMEOUT)
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('email')
    await expect.poll(() => page.title(), TIMEOUT).toBe('Sign in – Eyrie')
    await signIn()
    expect(await heading().count()).toBe(0)
    expect(new URL(page.url()).pathname).toBe('/recordings')
    await page.goto(`${origin}/sign-in`)
    await page.getByText('Engine is not reachable. Retrying').waitFor(TIMEOUT)
    expect(await heading().count()).toBe(0)
    expect(await button('Sign out').getAttribute('title')).toBe(administrator.email)
  }, 180_000)

  test('links from an unknown page to the live view', async () => {
    await page.goto(`${origin}/nowhere`)
    await signIn()
    const current = page.getByRole('navigation').locator('[aria-current]')
    await expect.poll(() => page.title(), TIMEOUT).toBe('Page not found – Eyrie')
    expect(await current.count()).toBe(0)
    await page.getByRole('link', { name: 'live view' }).click()
    expect(await current.textContent()).toBe('Live')
  }, 180_000)

  test('causes no console errors, and the API documentation is styled', async () => {
    const errors: string[] = []
    page.on('console', message => message.type() === 'error' && errors.push(message.text()))
    await page.reload()
    await heading().waitFor(TIMEOUT)
    await page.goto(`${origin}/docs`)
    expect(await page.evaluate('getComputedStyle(document.body).maxWidth')).toBe('896px')
    expect(errors).toEqual([])
  }, 180_000)

  test('reports a wrong password and keeps the e-mail address', async () => {
    await fillIn({ ...administrator, password: 'xyzzy' })
    await waitForAlert(/No user has this e-mail address and this password/)
    expect(await page.getByLabel('E-mail').inputValue()).toBe(administrator.email)
    await signIn()
  }, 180_000)

  test('reports the waiting time after too many attempts', async () => {
    const subject = 'account:nobody@eyrie.test 127.0.0.1'
    // The state after many attempts. One more is allowed before the delay applies.
    await postgres.sql`insert into sign_in_failure (subject, failures, last_at) values (${subject}, 40, now())`
    await fillIn({ email: 'nobody@eyrie.test', password: 'guess' })
    await waitForAlert(/^No user has/)
    await fillIn({ email: 'nobody@eyrie.test', password: 'one more' })
    await waitForAlert(/^Too many attempts: try again in \d+ s$/)
  }, 180_000)

  test('keeps the session in an HttpOnly cookie until the user signs out', async () => {
    await signIn()
    const [cookie, ...rest] = await context.cookies()
    expect(rest).toEqual([])
    expect(cookie).toMatchObject({
      name: 'eyrie_session',
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
    })
    expect(await page.evaluate('document.cookie')).toBe('')
    await page.reload()
    await button('Sign out').waitFor(TIMEOUT)

    await button('Sign out').click()
    await heading().waitFor(TIMEOUT)
    expect(await context.cookies()).toEqual([])
    await context.addCookies([cookie!])
    await page.reload()
    await heading().waitFor(TIMEOUT)
  }, 180_000)

  test('reports a failed sign-out until a retry succeeds', async () => {
    await signIn()
    const failure = page.getByText('Failed to sign out: the appliance is unreachable')
    await page.route('**/session', route => route.abort())
    await button('Sign out').click()
    await failure.waitFor(TIMEOUT)
    await page.unroute('**/session')
    await button('Sign out').click()
    await heading().waitFor(TIMEOUT)
    expect(await failure.count()).toBe(0)
  }, 180_000)

  test('shows the sign-in page after the user has signed out in another tab', async () => {
    await signIn()
    const other = await context.newPage()
    await other.goto(origin)
    await other.getByRole('button', { name: 'Sign out' }).click()
    await heading().waitFor(TIMEOUT)
  }, 180_000)

  test('keeps the input of a form whose session has ended until the same user signs in', async () => {
    // Without these, only the form notices that the session has ended.
    await page.route('**/live/**', route => route.fulfill({ status: 503 }))
    const nameField = page.getByLabel('Name on the sign-in page')
    await signIn()
    await page.getByRole('link', { name: 'Identity provider' }).click()
    await nameField.waitFor(TIMEOUT)
    await nameField.fill('Provider')
    await button('Add a group').click()
    await page.getByLabel('Group', { exact: true }).fill('guards')
    await page.request.delete(`${origin}/session`, { headers: { origin } })
    await button('Save').click()
    await page.getByText(`Sign in again as ${administrator.email}`).waitFor(TIMEOUT)
    await expect.poll(() => page.title(), TIMEOUT).toBe('Sign in – Eyrie')
    expect(await nameField.isVisible()).toBe(false)

    await signIn()
    await page.getByText('Your session had ended: try again').waitFor(TIMEOUT)
    await expect.poll(() => page.title(), TIMEOUT).toBe('Identity provider – Eyrie')
    expect(await nameField.inputValue()).toBe('Provider')
    expect(await page.getByLabel('Group', { exact: true }).inputValue()).toBe('guards')
    await button('Save').click()
    await page.getByText('Saved.').waitFor(TIMEOUT)
  }, 180_000)

  test('discards the input of a form when the user signs out', async () => {
    const nameField = page.getByLabel('Name on the sign-in page')
    await signIn()
    await page.getByRole('link', { name: 'Identity provider' }).click()
    const storedName = await nameField.inputValue(TIMEOUT)
    await nameField.fill('Not saved')
    await button('Sign out').click()
    await heading().waitFor(TIMEOUT)
    expect(await page.getByText('Your session has ended').count()).toBe(0)
    await signIn()
    expect(await nameField.inputValue(TIMEOUT)).toBe(storedName)
  }, 180_000)

  test.each(['127.0.0.1', 'localhost'])(
    'rejects requests and form posts from a foreign page on %s',
    async host => {
      // Forms are sent without a preflight request, and the body of a text form can be valid JSON.
      const [name = '', value = ''] = JSON.stringify(administrator).split('=')
      const form = `<form action="${origin}/session" method="post" enctype="text/plain"><input name='${name}' value='${value}'>`
      const site = createServer((_, response) => {
        response.setHeader('content-type', 'text/html').end(form)
      }).listen(0, '127.0.0.1')
      onTestFinished(() => void site.close())
      const foreign = await context.newPage()
      await foreign.goto(`http://${host}:${(site.address() as AddressInfo).port}`)
      const read = (method: string) =>
        foreign.evaluate(
          ([url, how]) =>
            fetch(url, { method: how, credentials: 'include' }).then(
              response => response.text(),
              () => 'refused',
            ),
          [`${origin}/session`, method] as const,
        )
      await signIn()
      expect(await read('GET')).toBe('refused')
      expect(await read('DELETE')).toBe('refused')
      await page.reload()
      await button('Sign out').waitFor(TIMEOUT)

      await context.clearCookies()
      await foreign.evaluate('document.forms[0].submit()')
      await foreign.getByText(`pages of http://${host}`).waitFor(TIMEOUT)
      expect(await context.cookies()).toEqual([])
    },
    120_000,
  )
})

test('the console reports an unreachable database and continues when it is back', {
  tags: 'long',
  timeout: 180_000,
}, async () => {
  await stop()
  await postgres.kill()
  await start()
  await page.goto(origin)
  await page.getByText('The appliance is starting').waitFor(TIMEOUT)
  expect(await heading().count()).toBe(0)
  await postgres.start()
  await heading().waitFor(TIMEOUT)
})
