// @module-tag long

import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ManagementRoute, managementRoutes } from '@eyrie/contract/management/index'
import { createLog, listen, readEnvironment } from '@eyrie/kit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createManagement } from '../../services/management/management.ts'
import { openBrowser } from '../fixtures/browser/browser.ts'
import { openConsole } from '../fixtures/browser/local-session.ts'
import { unreachableEngine } from '../fixtures/management/channel-records.ts'
import {
  customerInput,
  deviceInput,
  organizationInput,
  siteInput,
  sourceInput,
} from '../fixtures/management/hierarchy.ts'
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
    EYRIE_EGRESS_ALLOW: 'engine=127.0.0.1:9',
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

async function read<T>(page: Page, path: string): Promise<T> {
  const response = await page.request.get(`${origin}/api/v1${path}`)
  return ((await response.json()) as { response: T }).response
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

  test('report settings and users that could not be loaded as unknown', async () => {
    const page = await openPage()
    await page.route('**/user/list', route => route.fulfill({ status: 503 }))
    await signIn(page, administrator, '/identity-provider')
    await page.getByText('responded with status 503').waitFor(TIMEOUT)
    expect(await page.getByText('No user is connected').count()).toBe(0)

    for (const [path, operation] of [
      ['/identity-provider', '**/config/oidc'],
      ['/account', '**/user/totp'],
    ] as const) {
      await page.route(operation, route => route.fulfill({ status: 503 }))
      await page.goto(origin + path)
      await page.getByText('Reload the page to try again').waitFor(TIMEOUT)
    }
  }, 180_000)
})

test('the page Recordings offers no other day of a source without recordings', async () => {
  const page = await openPage()
  const stream = { stream: 1, state: 'waiting', dropped: 0, ranges: [] }
  await page.route('**/live/recordings?*', route => route.fulfill({ json: { streams: [stream] } }))
  await signIn(page, administrator, '/recordings')
  await page.getByText('No recordings of this source').waitFor(TIMEOUT)
  expect(await page.getByText('Select another day').count()).toBe(0)
}, 180_000)

test('settings that somebody else has saved meanwhile are not overwritten', async () => {
  const page = await openPage()
  await signIn(page, administrator, '/identity-provider')
  const save = async (name: string) => {
    await page.getByLabel('Name on the sign-in page').fill(name)
    await page.getByRole('button', { name: 'Save' }).click()
  }
  const saved = page.getByText('Saved.')
  await save('First')
  await saved.waitFor(TIMEOUT)
  await save('Second')
  await saved.waitFor(TIMEOUT)
  await create(page, managementRoutes.config.updateOidc, { oidc_name: 'Of somebody else' })
  await save('Third')
  await page.getByText('Somebody else has saved other settings').waitFor(TIMEOUT)
  const { oidc_name } = await read<{ oidc_name: string }>(page, '/config/oidc')
  expect(oidc_name).toBe('Of somebody else')
}, 180_000)

test('the page Engines does not call the load distributed well while a camera has no engine', async () => {
  const page = await openPage()
  await signIn(page, administrator)
  const { organization, customer, site, engine, device, source, pipeline, channel, placement } =
    managementRoutes
  const organizationId = await create(page, organization.create, organizationInput('lost'))
  const customerId = await create(page, customer.create, customerInput(organizationId, 'lost'))
  const siteId = await create(page, site.create, siteInput(organizationId, customerId, 'lost'))
  await create(page, placement.updateSite, { site_id: siteId, site_placement: 'automatic' })
  const engineInput = { ...unreachableEngine, site_ids: [siteId] }
  const engineId = await create(page, engine.create, engineInput)
  const deviceId = await create(page, device.create, deviceInput(siteId, engineId, 'Gate'))
  const sourceId = await create(page, source.create, sourceInput(deviceId, engineId, 'Gate'))
  const pipelineId = await create(page, pipeline.create, {
    engine_id: engineId,
    pipeline_name: 'crossings',
    pipeline_usecase: 'line-crossing',
    pipeline_reference_key: 1,
    pipeline_elements: { elements: [{ name: 'image-resize', args: { width: 640, height: 360 } }] },
  })
  const channelInput = {
    source_id: sourceId,
    pipeline_id: pipelineId,
    usecase_key: 'line-crossing',
    channel_name: 'in',
  }
  await create(page, channel.create, channelInput)

  await page.getByRole('link', { name: 'Engines' }).click()
  await page.getByText('Gate has no engine').waitFor(TIMEOUT)
  await page.getByRole('heading', { name: 'Some cameras have no engine' }).waitFor(TIMEOUT)
}, 180_000)

describe('a browser that has opened a link', () => {
  test('is offered no account, and asked to sign in on the pages of users', async () => {
    const page = await openPage()
    await openConsole(page, { consoleUrl: origin, data })
    await page.getByRole('link', { name: 'Sign in' }).waitFor(TIMEOUT)
    expect(await page.getByRole('link', { name: 'Account' }).count()).toBe(0)
    await signIn(page, administrator, '/engines')
    await page.getByRole('heading', { name: 'Add engines' }).waitFor(TIMEOUT)
  }, 180_000)

  test('shows the sign-in page when it is no longer admitted', async () => {
    const page = await openPage()
    await openConsole(page, { consoleUrl: origin, data })
    await page.getByRole('link', { name: 'Sign in' }).waitFor(TIMEOUT)
    await page.context().clearCookies()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor(TIMEOUT)
  }, 180_000)
})

/** Creates a user who may see nothing, and opens the console as this user. */
async function signInAsViewer(page: Page): Promise<void> {
  const administration = await openPage()
  await signIn(administration, administrator)
  const { register, setStatus, update } = managementRoutes.user
  const viewer = { email: `viewer-${randomUUID()}@eyrie.test`, password: administrator.password }
  const names = { first_name: 'Val', last_name: 'Viewer' }
  await create(administration, register, { ...viewer, ...names, role_key: 'viewer' })
  const users = await read<{ user_id: string; email: string }[]>(administration, '/user/list')
  const roles = await read<{ role_id: string; role_key: string }[]>(administration, '/role/list')
  const userId = users.find(({ email }) => email === viewer.email)!.user_id
  const roleId = roles.find(({ role_key }) => role_key === 'viewer')!.role_id
  await create(administration, setStatus, { user_id: userId, is_active: true, is_verified: true })
  const { email } = viewer
  await create(administration, update, {
    user_id: userId,
    email,
    role_id: roleId,
    change_password: false,
  })
  await signIn(page, viewer)
}

describe('a viewer without assignments', () => {
  test('learns that only superadmins may open the page Engines', async () => {
    const page = await openPage()
    await signInAsViewer(page)
    await page.goto(`${origin}/engines`)
    await page.getByText('Only superadmins may open this page').waitFor(TIMEOUT)
  }, 180_000)

  test('is referred to an administrator for channels, not to the command line', async () => {
    const page = await openPage()
    // The lists of a user without channels. Management would read them from the engine.
    await page.route('**/live/channels', route => route.fulfill({ json: [] }))
    await page.route('**/live/recordings?*', route => route.fulfill({ json: { streams: [] } }))
    await signInAsViewer(page)
    await page.getByText('No channels are assigned to you').waitFor(TIMEOUT)
    await page.getByRole('link', { name: 'Recordings' }).click()
    await page.getByText('No recordings of your channels').waitFor(TIMEOUT)
  }, 180_000)
})
