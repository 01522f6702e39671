import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Appliance, startAppliance } from '../fixtures/appliance.ts'
import { runEyrie } from '../fixtures/command-line.ts'
import { processesOf, servicePid } from '../fixtures/processes.ts'

const running: Appliance[] = []
async function start(...options: Parameters<typeof startAppliance>): Promise<Appliance> {
  const appliance = await startAppliance(...options)
  running.push(appliance)
  return appliance
}
afterEach(async () => {
  await Promise.all(running.splice(0).map(appliance => appliance.remove()))
})

/** A test pattern needs no rendering, so that these tests are about processes alone. */
const pattern = { source: 'test://ball' }

describe('the supervisor', () => {
  it('starts every service, says one address, and ends without an orphan', async () => {
    const appliance = await start(pattern)
    const line = await appliance.printed(/ready: open http/)
    expect(line).toContain(appliance.consoleUrl)
    expect((await fetch(appliance.consoleUrl)).status).toBe(200)
    expect(processesOf(appliance.data).length).toBeGreaterThanOrEqual(4)
    const { out } = await runEyrie(['logs', '--service', 'eyrie'], { data: appliance.data })
    expect(out).toBe(`${line}\n`)

    expect(await appliance.stop()).toBe(0)
    expect(appliance.lines.at(-1)).toContain('stopped')
    expect(processesOf(appliance.data)).toEqual([])
  }, 60_000)

  it('starts a killed service again', async () => {
    const appliance = await start(pattern)
    await appliance.printed(/ready: open http/)
    process.kill(servicePid(appliance.data, 'media'), 'SIGKILL')
    await appliance.printed(/media +! process exited; restarting signal=SIGKILL/)
    await vi.waitFor(async () => expect((await health(appliance)).media).toBe('connected'), {
      timeout: 20_000,
      interval: 100,
    })
  }, 60_000)

  it('takes its services along when it is itself killed', async () => {
    const appliance = await start(pattern)
    await appliance.printed(/ready: open http/)
    appliance.process.kill('SIGKILL')
    await vi.waitFor(() => expect(processesOf(appliance.data)).toEqual([]), {
      timeout: 10_000,
      interval: 100,
    })
  }, 60_000)

  it('says in one line that a port is taken, and starts nothing', async () => {
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
  ])('refuses %o in one line', async (wish, reason) => {
    const appliance = await start(wish)
    const [code] = await once(appliance.process, 'exit')
    expect(code).toBe(1)
    expect(appliance.lines).toHaveLength(1)
    expect(appliance.lines[0]).toContain(reason)
  })
})

async function health(appliance: Appliance): Promise<{ media: string }> {
  const response = await fetch(`${appliance.engineUrl}/health`)
  return (await response.json()) as { media: string }
}
