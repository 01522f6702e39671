import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog, type Listening, listen, readEnvironment } from '@eyrie/kit'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createManagement } from '../../services/management/management.ts'
import { openBrowser } from '../fixtures/browser.ts'
import { type PostgresServer, startPostgres } from '../fixtures/postgres.ts'

const administrator = { email: 'owner@eyrie.test', password: 'correct = horse battery staple' }
const PATIENCE = { timeout: 60_000 }

let browser: Browser
let postgres: PostgresServer
let origin: string
/** Nothing, until it is started. */
let stop = async () => {}
const data = mkdtempSync(join(tmpdir(), 'eyrie-sign-in-'))

/** Management as it is where everybody has to sign in; it is reached by loopback all the same. */
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
  const server: Listening = await listen(service, '127.0.0.1', 0)
  origin = `http://127.0.0.1:${server.port}`
  stop = async () => {
    await Promise.all([service.stop(), server.close()])
  }
}

beforeAll(async () => {
  browser = await openBrowser()
  postgres = await startPostgres()
  await start()
}, 120_000)
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
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  // What was told of the attempt before is gone then.
  const answered = page.waitForResponse(answer => answer.request().method() === 'POST')
  await button('Sign in').click()
  await answered
}

async function told(words: RegExp) {
  const alert = page.getByRole('alert')
  await expect.poll(() => alert.textContent(), PATIENCE).toMatch(words)
  return (await alert.textContent()) ?? ''
}

async function signIn() {
  await fillIn(administrator)
  await button('Sign out').waitFor(PATIENCE)
}

describe('the console, where everybody has to sign in,', () => {
  test('shows nothing else, and lets who signs in go where they wanted to', async () => {
    await page.goto(`${origin}/recordings`)
    await heading().waitFor(PATIENCE)
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('email')
    await expect.poll(() => page.title(), PATIENCE).toBe('Sign in – Eyrie')
    await signIn()
    expect(await heading().count()).toBe(0)
    expect(new URL(page.url()).pathname).toBe('/recordings')
    await page.goto(`${origin}/sign-in`)
    await page.getByText('Engine is not reachable, retrying').waitFor(PATIENCE)
    expect(await heading().count()).toBe(0)
    expect(await button('Sign out').getAttribute('title')).toBe(administrator.email)
  }, 120_000)

  test('leads from a page that is not there to one that is', async () => {
    await page.goto(`${origin}/nowhere`)
    await signIn()
    const current = page.getByRole('navigation').locator('[aria-current]')
    await expect.poll(() => page.title(), PATIENCE).toBe('No such page – Eyrie')
    expect(await current.count()).toBe(0)
    await page.getByRole('link', { name: 'live view' }).click()
    expect(await current.textContent()).toBe('Live')
  }, 120_000)

  test('asks for nothing that it would be refused, and lets the page of the API look as it is meant to', async () => {
    const wrong: string[] = []
    page.on('console', message => message.type() === 'error' && wrong.push(message.text()))
    await page.reload()
    await heading().waitFor(PATIENCE)
    await page.goto(`${origin}/docs`)
    expect(await page.evaluate('getComputedStyle(document.body).maxWidth')).toBe('896px')
    expect(wrong).toEqual([])
  }, 120_000)

  test('says that a password is wrong, and keeps the address', async () => {
    await fillIn({ ...administrator, password: 'xyzzy' })
    await told(/No user has this e-mail address and this password/)
    expect(await page.getByLabel('E-mail').inputValue()).toBe(administrator.email)
    await signIn()
  }, 120_000)

  test('says how long who has guessed too often has to wait', async () => {
    const subject = 'account:nobody@eyrie.test'
    // As after many attempts, each of which takes its time; one more is made to wait.
    await postgres.sql`insert into sign_in_failure (subject, failures, last_at) values (${subject}, 40, now())`
    await fillIn({ email: 'nobody@eyrie.test', password: 'guess' })
    await told(/^No user has/)
    await fillIn({ email: 'nobody@eyrie.test', password: 'one more' })
    await told(/^Too many attempts: try again in \d+ s$/)
  }, 120_000)

  test('remembers who has signed in, in a cookie that no script reads, until they sign out', async () => {
    await signIn()
    const [cookie, ...rest] = await context.cookies()
    expect(rest).toEqual([])
    expect(cookie).toMatchObject({ name: 'eyrie_session', httpOnly: true, sameSite: 'Strict', path: '/' })
    expect(await page.evaluate('document.cookie')).toBe('')
    await page.reload()
    await button('Sign out').waitFor(PATIENCE)

    await button('Sign out').click()
    await heading().waitFor(PATIENCE)
    expect(await context.cookies()).toEqual([])
    await context.addCookies([cookie!])
    await page.reload()
    await heading().waitFor(PATIENCE)
  }, 120_000)

  test('asks who has signed out in another window to sign in', async () => {
    await signIn()
    const other = await context.newPage()
    await other.goto(origin)
    await other.getByRole('button', { name: 'Sign out' }).click()
    await heading().waitFor(PATIENCE)
  }, 120_000)

  test.each(['127.0.0.1', 'localhost'])(
    'neither answers a page of another site on %s, nor lets it sign anybody in',
    async host => {
      // A form asks nobody before it is sent, and its text can be made to be JSON.
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
              answer => answer.text(),
              () => 'refused',
            ),
          [`${origin}/session`, method] as const,
        )
      await signIn()
      expect(await read('GET')).toBe('refused')
      expect(await read('DELETE')).toBe('refused')
      await page.reload()
      await button('Sign out').waitFor(PATIENCE)

      await context.clearCookies()
      await foreign.evaluate('document.forms[0].submit()')
      await foreign.getByText(`pages of http://${host}`).waitFor(PATIENCE)
      expect(await context.cookies()).toEqual([])
    },
    120_000,
  )
})

test('a console that is opened while the database is away says so, and goes on by itself', async () => {
  await stop()
  await postgres.kill()
  await start()
  await page.goto(origin)
  await page.getByText('The appliance is starting').waitFor(PATIENCE)
  expect(await heading().count()).toBe(0)
  await postgres.start()
  await heading().waitFor(PATIENCE)
}, 120_000)
