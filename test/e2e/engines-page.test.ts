// @module-tag long

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type ManagementRoute, managementRoutes } from '@eyrie/contract/management/index'
import { createLog, listen, readEnvironment } from '@eyrie/kit'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createManagement } from '../../services/management/management.ts'
import { openBrowser } from '../fixtures/browser/browser.ts'
import {
  customerInput,
  deviceInput,
  organizationInput,
  siteInput,
  sourceInput,
} from '../fixtures/management/hierarchy.ts'
import { findFreePort } from '../fixtures/network/free-ports.ts'
import { runEyrieCommand } from '../fixtures/processes/command-line.ts'
import { startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { startPostgres } from '../fixtures/processes/postgres.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const administrator = { email: 'owner@eyrie.test', password: 'correct = horse battery staple' }
const TIMEOUT = { timeout: 180_000 }
const WAIT = { timeout: 180_000, interval: 200 }
const { channel, customer, device, organization, pipeline, site, source, systemAlert } =
  managementRoutes

/** Starts management in this process, as it runs on all addresses, and reaches it by loopback. */
async function startManagement(ports: readonly number[]) {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.remove())
  const data = createTemporaryFolder()
  const environment = readEnvironment({
    EYRIE_DATA: data,
    EYRIE_HOST: '0.0.0.0',
    EYRIE_ENGINE_URL: 'http://127.0.0.1:9',
    EYRIE_MEDIA_URL: 'http://127.0.0.1:9',
    EYRIE_JOIN_TOKEN: randomUUID(),
    EYRIE_ADMIN_EMAIL: administrator.email,
    EYRIE_ADMIN_PASSWORD: administrator.password,
    EYRIE_EGRESS_ALLOW: ports.map(port => `engine=127.0.0.1:${port}`).join(),
    DATABASE_URL: `postgres://eyrie:plugh@127.0.0.1:${postgres.port}/eyrie`,
  })
  const service = createManagement({ environment, log: createLog('management', 'silent') })
  await service.start()
  const server = await listen(service, '127.0.0.1', 0)
  onTestFinished(async () => {
    await Promise.all([service.stop(), server.close()])
  })
  const origin = `http://127.0.0.1:${server.port}`

  async function request(path: string, token: string, body?: unknown) {
    const response = await fetch(`${origin}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const location = response.headers.get('location')
    const { message, response: value } = (await response.json()) as {
      message: string
      response: never
    }
    if (!response.ok) throw new Error(`${path}: ${message}`)
    return { id: location?.split('=').at(-1) ?? '', value }
  }
  // The database is still starting.
  const signIn = await vi.waitFor(() => request('/user/auth', '', administrator), WAIT)
  const { access_token: accessToken } = signIn.value as { access_token: string }
  const call = async (path: string, body?: unknown): Promise<unknown> =>
    (await request(path, accessToken, body)).value
  const create = async ({ path }: ManagementRoute, body: unknown) =>
    (await request(path, accessToken, body)).id

  async function startEngine(name: string, port: number, token: string) {
    const engine = await startEngineProcess({
      data: join(data, 'engines', name),
      settings: { engine: { inference_workers: 1 } },
      variables: {
        EYRIE_ENGINE_PORT: String(port),
        EYRIE_MANAGEMENT_URL: origin,
        EYRIE_JOIN_TOKEN: token,
      },
    })
    onTestFinished(() => engine.kill())
    const engineId = await vi.waitFor(async () => {
      const [row] =
        await postgres.sql`select engine_id from engine join engine_state using (engine_id)
        where engine_port = ${port} and engine_status = 1`
      expect(row).toBeDefined()
      return String(row!.engine_id)
    }, WAIT)
    // Engines on one machine have the same name.
    await postgres.sql`update engine set engine_name = ${name} where engine_id = ${engineId}`
    return engineId
  }

  const runCommand = (...args: string[]) =>
    runEyrieCommand(args, { data, environment: { EYRIE_MANAGEMENT_URL: origin } })
  return { origin, call, create, startEngine, runCommand }
}

it('an engine that joins is offered cameras of another one, and receives them on the page Engines', {
  timeout: 600_000,
}, async () => {
  const ports = [await findFreePort(), await findFreePort()]
  const management = await startManagement(ports)
  const { origin, call, create, startEngine, runCommand } = management
  const browser = await openBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(origin)
  await page.getByLabel('E-mail').fill(administrator.email)
  await page.getByLabel('Password').fill(administrator.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Engines' }).click()
  await page.getByText('No engine is registered').waitFor(TIMEOUT)

  // A token from the page lets an engine join.
  await page.getByLabel('Name of the token').fill('hall')
  await page.getByRole('button', { name: 'Create a join token' }).click()
  const token = (await page.locator('code.token').textContent(TIMEOUT))!
  const first = await startEngine('Hall 1', ports[0]!, token)
  const card = (name: string) =>
    page.getByRole('list', { name: 'Engines' }).getByRole('listitem').filter({ hasText: name })
  await card('Hall 1').getByText('online').waitFor(TIMEOUT)

  // Two cameras on the only engine.
  const organizationId = await create(organization.create, organizationInput('own'))
  const customerId = await create(customer.create, customerInput(organizationId, 'own'))
  const siteId = await create(site.create, siteInput(organizationId, customerId, 'yard'))
  const pipelineId = await create(pipeline.create, {
    engine_id: first,
    pipeline_name: 'crossings',
    pipeline_usecase: 'line-crossing',
    pipeline_reference_key: 1,
    pipeline_elements: { elements: [{ name: 'image-resize', args: { width: 640, height: 360 } }] },
  })
  for (const name of ['Gate', 'Dock']) {
    const deviceId = await create(device.create, deviceInput(siteId, first, name))
    const sourceId = await create(source.create, sourceInput(deviceId, first, name))
    const input = {
      source_id: sourceId,
      pipeline_id: pipelineId,
      usecase_key: 'line-crossing',
      channel_name: `${name} in`,
    }
    await create(channel.create, input)
  }
  await call(systemAlert.updateSettings.path, { kinds: { engines_unbalanced: { hold_s: 0 } } })
  await card('Hall 1').getByText('2 cameras').waitFor(TIMEOUT)
  await page.getByText('The load is distributed well').waitFor(TIMEOUT)

  // The rules are set on the page, and by the command line.
  await page.getByLabel('Spread Site yard over the engines').check()
  expect(
    await runCommand('placement', 'site', 'Site yard', '--placement', 'automatic'),
  ).toMatchObject({
    code: 0,
    out: 'changed the placement of Site yard\n',
  })
  await vi.waitFor(async () => {
    expect(await page.getByLabel('Who chooses the engines of Site yard').inputValue()).toBe(
      'automatic',
    )
    const rules = { site_placement: 'automatic', site_is_spread: true }
    expect(await call(`/placement/site?site_id=${siteId}`)).toMatchObject(rules)
  }, WAIT)

  // Another engine joins: management offers to move a camera, and the page and the
  // command line show it.
  const created = await runCommand(
    'join-token',
    'create',
    'yard',
    '--site',
    'Site yard',
    '--days',
    '7',
  )
  expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/^eyrie_jt_\S+\n$/) })
  await startEngine('Hall 2', ports[1]!, created.out.trim())
  await page.getByText('A better distribution is possible').waitFor(TIMEOUT)
  await page.getByText('Offered since').waitFor(TIMEOUT)
  await page.getByText('engines unbalanced (1)').waitFor(TIMEOUT)
  const shown = await runCommand('placement')
  expect(shown.out).toMatch(/^Hall 1 +online +\d+\.\d\d +\d+\.\d\d +\d+\.\d\d +2$/m)
  expect(shown.out).toMatch(/^Dock +Site yard +Hall 1 +automatic +\S+ +Dock in$/m)
  expect(shown.out).toMatch(
    /^The plan, which is offered since \S+ \S+ UTC; eyrie placement apply makes/m,
  )
  expect(shown.out).toMatch(/^(Gate|Dock) +Hall 1 +Hall 2 /m)

  await page.getByRole('button', { name: 'Move 1 camera' }).click()
  await page.getByText('Moved 1 camera').waitFor(TIMEOUT)
  await page.getByText('The load is distributed well').waitFor(TIMEOUT)
  for (const name of ['Hall 1', 'Hall 2']) await card(name).getByText('1 camera').waitFor(TIMEOUT)
  expect((await runCommand('placement', 'apply')).out).toBe('there is nothing to move\n')
  await page.getByText('engines unbalanced').waitFor({ ...TIMEOUT, state: 'detached' })

  // A person moves a camera and pins it.
  await page.getByLabel('Engine of Gate', { exact: true }).selectOption('Hall 1')
  await page.getByLabel('Who chooses the engine of Gate').selectOption('a person (pinned)')
  const moved = await runCommand(
    'placement',
    'source',
    'Dock',
    '--engine',
    'Hall 1',
    '--placement',
    'pinned',
  )
  expect(moved.out).toBe('changed the placement of Dock\nmoved Dock to Hall 1\n')
  await card('Hall 1').getByText('2 cameras').waitFor(TIMEOUT)
  expect(await runCommand('placement', 'source', 'Dick', '--engine', 'Hall 1')).toMatchObject({
    code: 1,
    err: expect.stringContaining('there is no source Dick: choose one of Dock, Gate'),
  })

  // The tokens are listed without their secrets, and deleted.
  const listed = await runCommand('join-token', 'list')
  expect(listed.out).toMatch(/^\S+ +hall +\S+ +\S+ +never$/m)
  expect(listed.out).not.toContain(token)
  const id = /^(\S+) +yard/m.exec(listed.out)![1]!
  expect((await runCommand('join-token', 'delete', id)).out).toBe(`deleted ${id}\n`)
  // The page asks for a confirmation, also after a double click.
  await page.getByRole('button', { name: 'Delete hall' }).dblclick()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Cancel' }).waitFor({ ...TIMEOUT, state: 'detached' })
  expect(await call('/engine/join-tokens')).toHaveLength(1)
  await page.getByRole('button', { name: 'Delete hall' }).click()
  await page.getByRole('button', { name: 'Delete the token' }).click()
  await vi.waitFor(async () => expect(await call('/engine/join-tokens')).toEqual([]), WAIT)
  expect((await runCommand('join-token', 'delete', id)).err).toContain(
    `there is no join token ${id}`,
  )

  // The page says why it cannot delete a token that somebody else has deleted.
  await page.getByLabel('Name of the token').fill('gate')
  await page.getByRole('button', { name: 'Create a join token' }).click()
  await page.getByRole('button', { name: 'Delete gate' }).waitFor(TIMEOUT)
  const [gate] = (await call('/engine/join-tokens')) as { join_token_id: string }[]
  await runCommand('join-token', 'delete', gate!.join_token_id)
  await page.getByRole('button', { name: 'Delete gate' }).click()
  await page.getByRole('button', { name: 'Delete the token' }).click()
  expect(await page.getByRole('alert').textContent(TIMEOUT)).toContain('no such join_token')
  await page.getByRole('button', { name: 'Delete gate' }).waitFor({ ...TIMEOUT, state: 'detached' })
})
