// @module-tag long
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ManagementRoute, managementRoutes } from '@eyrie/contract/management/index'
import { createLog, listen, readEnvironment } from '@eyrie/kit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createManagement } from '../../services/management/management.ts'
import { openBrowser } from '../fixtures/browser/browser.ts'
import { customerInput, organizationInput, siteInput } from '../fixtures/management/hierarchy.ts'
import { startPostgres } from '../fixtures/processes/postgres.ts'

const administrator = { email: 'owner@eyrie.test', password: 'correct = horse battery staple' }
const TIMEOUT = { timeout: 60_000 }
/** A word that no line of a page can hold. */
const LONG_NAME = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamten'.repeat(3)

let browser: Browser
let data: string
let origin: string
/** Stops what has been started, in reverse order. */
const stops: (() => unknown)[] = []

/** Starts management without an engine, as it runs on all addresses, and reaches it by loopback. */
beforeAll(async () => {
  browser = await openBrowser()
  stops.unshift(() => browser.close())
  const postgres = await startPostgres()
  stops.unshift(() => postgres.remove())
  data = mkdtempSync(join(tmpdir(), 'eyrie-console-pages-'))
  stops.push(() => rmSync(data, { recursive: true }))
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
  stops.unshift(() => service.stop())
  await service.start()
  const server = await listen(service, '127.0.0.1', 0)
  stops.unshift(() => server.close())
  origin = `http://127.0.0.1:${server.port}`
}, 180_000)
afterAll(async () => {
  for (const stop of stops) await stop()
})

async function openPage(): Promise<Page> {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  return context.newPage()
}

/** Signs in to the console, and then opens a page of it. */
async function signIn(page: Page, user: typeof administrator, path = '/'): Promise<void> {
  await page.goto(origin + path)
  await page.getByLabel('E-mail').fill(user.email)
  await page.getByLabel('Password').fill(user.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor(TIMEOUT)
}

/** Calls an operation in the session of a page. Returns the id of a created record. */
async function create(page: Page, { path }: ManagementRoute, input: object): Promise<string> {
  const headers = { origin }
  const response = await page.request.post(`${origin}/api/v1${path}`, { headers, data: input })
  if (!response.ok()) throw new Error(await response.text())
  return response.headers().location?.split('=').at(-1) ?? ''
}

describe('the pages of the console', () => {
  test('fit into windows of all widths, also with long names', async () => {
    const page = await openPage()
    await signIn(page, administrator)
    const { organization, customer, site } = managementRoutes
    const organizationId = await create(page, organization.create, {
      ...organizationInput('long'),
      organization_name: LONG_NAME,
    })
    const customerId = await create(page, customer.create, {
      ...customerInput(organizationId, 'long'),
      customer_name: LONG_NAME,
    })
    await create(page, site.create, {
      ...siteInput(organizationId, customerId, 'long'),
      site_name: LONG_NAME,
    })

    const contents = {
      '/': page.getByText('Engine is not reachable'),
      '/recordings': page.getByText('not reachable'),
      '/account': page.getByRole('heading', { name: 'Authenticator app' }),
      '/engines': page.getByRole('button', { name: 'Create a join token' }),
      '/plugins': page.getByRole('heading', { name: 'Plugins' }),
      '/identity-provider': page.getByRole('button', { name: 'Add a group' }),
    }
    const overflows: string[] = []
    for (const [path, content] of Object.entries(contents)) {
      await page.goto(origin + path)
      await content.first().waitFor(TIMEOUT)
      if (path === '/identity-provider') await content.click()
      for (const width of [1440, 1024, 650, 390]) {
        await page.setViewportSize({ width, height: 800 })
        const pageWidth = await page.evaluate('document.documentElement.scrollWidth')
        if (pageWidth !== width) overflows.push(`${path} is ${pageWidth} wide in ${width}`)
      }
    }
    expect(overflows).toEqual([])
  }, 180_000)
})
