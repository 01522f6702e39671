import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openBrowser } from '../fixtures/browser/browser.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { type Appliance, startAppliance } from '../fixtures/processes/appliance.ts'
import { runEyrieCommand } from '../fixtures/processes/command-line.ts'
import {
  findProcesses,
  findServicePid,
  isRunning,
  readCommand,
} from '../fixtures/processes/processes.ts'

const running: Appliance[] = []
async function start(...options: Parameters<typeof startAppliance>): Promise<Appliance> {
  const appliance = await startAppliance(...options)
  running.push(appliance)
  return appliance
}
afterEach(async () => {
  await Promise.all(running.splice(0).map(appliance => appliance.remove()))
})

const WAIT = { timeout: 60_000 }

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

/** Opens a page without cookies. */
async function openTestPage(): Promise<Page> {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  return context.newPage()
}

/** A test pattern needs no rendering. */
const pattern = { source: SMALL_PICTURE }

describe('supervisor', () => {
  let appliance: Appliance
  beforeAll(async () => {
    appliance = await startAppliance(pattern)
    await appliance.waitForLine(/ready: open http/)
  }, 180_000)
  afterAll(() => appliance.remove())

  it('starts every service and prints the console address', async () => {
    const line = await appliance.waitForLine(/ready: open http/)
    expect(line).toContain(appliance.consoleUrl)
    expect((await fetch(appliance.consoleUrl)).status).toBe(200)
    expect(findProcesses(appliance.data).length).toBeGreaterThanOrEqual(4)
    const { out } = await runEyrieCommand(['logs', '--service', 'eyrie'], { data: appliance.data })
    expect(out).toBe(`${line}\n`)
  }, 180_000)

  it('prints a link that opens the console once, and that no log contains', async () => {
    const link = (await appliance.waitForLine(/\?key=/)).trim()
    expect(link).toMatch(new RegExp(`^${appliance.consoleUrl}/\\?key=[\\w-]{43}$`))
    const page = await openTestPage()
    await page.goto(link)
    expect(page.url()).toBe(`${appliance.consoleUrl}/`)
    await page.locator('.stage').waitFor(WAIT)
    await page.reload()
    await page.locator('.stage').waitFor(WAIT)

    const other = await openTestPage()
    await other.goto(link)
    await other.getByText('This link is no longer valid').waitFor(WAIT)
    expect(await other.getByText('./eyrie open').count()).toBe(1)
    const key = new URL(link).searchParams.get('key')!
    const { out } = await runEyrieCommand(['logs'], { data: appliance.data })
    expect(out).toMatch(/ready: open/)
    expect(out).not.toContain(key)
    const isLogged = (line: string) => line.includes(key) && line.trim() !== link
    expect(appliance.lines.filter(isLogged)).toEqual([])
    await other.getByRole('link', { name: 'sign in' }).click()
    await other.getByRole('heading', { name: 'Sign in' }).waitFor(WAIT)
  }, 180_000)

  it('restarts a killed service', async () => {
    process.kill(findServicePid(appliance.data, 'media'), 'SIGKILL')
    await appliance.waitForLine(/media +! process exited; restarting signal=SIGKILL/)
    await vi.waitFor(async () => expect((await fetchHealth(appliance)).media).toBe('connected'), {
      timeout: 60_000,
      interval: 100,
    })
  }, 180_000)

  it('stores decoded frames in a folder that other users cannot enter, and stops without a warning, and without leaving it or a process', async () => {
    const [, ring = ''] = readFileSync(join(appliance.data, 'ring-path'), 'utf8').split('\n')
    expect(statSync(ring).mode & 0o007).toBe(0)
    const commands = new Map(findProcesses(appliance.data).map(pid => [pid, readCommand(pid)]))
    const lineCount = appliance.lines.length
    expect(await appliance.stop()).toBe(0)
    expect(appliance.lines.at(-1)).toContain('stopped')
    const warnings = appliance.lines.slice(lineCount).filter(line => / [!✖] /.test(line))
    // On a busy machine, the pipeline drops frames.
    expect(warnings.filter(line => !line.includes('state=degraded'))).toEqual([])
    expect([...commands].filter(([pid]) => isRunning(pid))).toEqual([])
    expect(existsSync(ring)).toBe(false)
  }, 180_000)
})

describe('supervisor of another appliance', () => {
  it('exposes no other service when management gets another address, and stops all of them when it is killed', async () => {
    const appliance = await start({
      ...pattern,
      environment: { EYRIE_MANAGEMENT_HOST: '127.0.0.2' },
    })
    for (const service of ['engine', 'media', 'management', 'scheduler']) {
      await appliance.waitForLine(new RegExp(`${service} .*listening`))
    }
    const { consoleUrl, engineUrl, mediaUrl, schedulerUrl } = appliance
    const other = (url: string) => fetch(url.replace('127.0.0.1', '127.0.0.2'))
    await expect(other(consoleUrl)).resolves.toBeDefined()
    for (const url of [engineUrl, mediaUrl, schedulerUrl]) {
      await expect(fetch(url)).resolves.toBeDefined()
      await expect(other(url)).rejects.toThrow()
    }

    const processes = findProcesses(appliance.data)
    appliance.process.kill('SIGKILL')
    await vi.waitFor(() => expect(processes.filter(isRunning)).toEqual([]), {
      timeout: 60_000,
      interval: 100,
    })
  }, 180_000)

  it('reports a port that is in use in one line and starts nothing', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const appliance = await start({ ...pattern, environment: { EYRIE_ENGINE_PORT: String(port) } })
    const [code] = await once(appliance.process, 'exit')
    other.close()
    expect(code).toBe(1)
    expect(appliance.lines).toHaveLength(1)
    expect(appliance.lines[0]).toContain(
      `port ${port} is already in use: stop the process that uses it, or set EYRIE_ENGINE_PORT`,
    )
  })

  it.each([
    [{ source: '/nowhere/clip.mp4' }, '/nowhere/clip.mp4 does not exist'],
    [{ model: 'no-such-model' }, 'no-such-model'],
  ])('rejects %o in one line', async (options, reason) => {
    const appliance = await start(options)
    const [code] = await once(appliance.process, 'exit')
    expect(code).toBe(1)
    expect(appliance.lines).toHaveLength(1)
    expect(appliance.lines[0]).toContain(reason)
  })
})

async function fetchHealth(appliance: Appliance): Promise<{ media: string }> {
  const response = await fetch(`${appliance.engineUrl}/health`)
  return (await response.json()) as { media: string }
}
