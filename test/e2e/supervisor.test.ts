import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Appliance, startAppliance } from '../fixtures/processes/appliance.ts'
import { runEyrieCommand } from '../fixtures/processes/command-line.ts'
import { findProcesses, findServicePid } from '../fixtures/processes/processes.ts'

const running: Appliance[] = []
async function start(...options: Parameters<typeof startAppliance>): Promise<Appliance> {
  const appliance = await startAppliance(...options)
  running.push(appliance)
  return appliance
}
afterEach(async () => {
  await Promise.all(running.splice(0).map(appliance => appliance.remove()))
})

/** A test pattern needs no rendering. */
const pattern = { source: 'test://ball' }

describe('supervisor', () => {
  it('starts every service, prints the console address, and stops without orphans', async () => {
    const appliance = await start(pattern)
    const line = await appliance.waitForLine(/ready: open http/)
    expect(line).toContain(appliance.consoleUrl)
    expect((await fetch(appliance.consoleUrl)).status).toBe(200)
    expect(findProcesses(appliance.data).length).toBeGreaterThanOrEqual(4)
    const { out } = await runEyrieCommand(['logs', '--service', 'eyrie'], { data: appliance.data })
    expect(out).toBe(`${line}\n`)

    expect(await appliance.stop()).toBe(0)
    expect(appliance.lines.at(-1)).toContain('stopped')
    expect(findProcesses(appliance.data)).toEqual([])
  }, 180_000)

  it('restarts a killed service', async () => {
    const appliance = await start(pattern)
    await appliance.waitForLine(/ready: open http/)
    process.kill(findServicePid(appliance.data, 'media'), 'SIGKILL')
    await appliance.waitForLine(/media +! process exited; restarting signal=SIGKILL/)
    await vi.waitFor(async () => expect((await fetchHealth(appliance)).media).toBe('connected'), {
      timeout: 60_000,
      interval: 100,
    })
  }, 180_000)

  it('stops its services when it is killed itself', async () => {
    const appliance = await start(pattern)
    await appliance.waitForLine(/ready: open http/)
    appliance.process.kill('SIGKILL')
    await vi.waitFor(() => expect(findProcesses(appliance.data)).toEqual([]), {
      timeout: 60_000,
      interval: 100,
    })
  }, 180_000)

  it('exposes neither engine nor media when management gets another address', async () => {
    const appliance = await start({ ...pattern, environment: { EYRIE_MANAGEMENT_HOST: '127.0.0.2' } })
    for (const service of ['engine', 'media', 'management'])
      await appliance.waitForLine(new RegExp(`${service} .*listening`))
    const { consoleUrl, engineUrl, mediaUrl } = appliance
    const other = (url: string) => fetch(url.replace('127.0.0.1', '127.0.0.2'))
    await expect(other(consoleUrl)).resolves.toBeDefined()
    for (const url of [engineUrl, mediaUrl]) {
      await expect(fetch(url)).resolves.toBeDefined()
      await expect(other(url)).rejects.toThrow()
    }
  }, 180_000)

  it('stores decoded frames in a folder that other users cannot enter, and removes it', async () => {
    const appliance = await start(pattern)
    await appliance.waitForLine(/ready: open http/)
    const [, ring = ''] = readFileSync(join(appliance.data, 'ring-path'), 'utf8').split('\n')
    expect(statSync(ring).mode & 0o777).toBe(0o700)
    expect(await appliance.stop()).toBe(0)
    expect(existsSync(ring)).toBe(false)
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
    [{ source: '/tmp' }, '/tmp is not a file'],
    [{ source: 'ftp://camera/stream' }, 'write an rtsp:// address'],
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
