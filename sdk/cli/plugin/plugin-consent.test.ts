import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Capabilities, capabilities } from '@eyrie/contract'
import { type ListeningServer, listen, type Service } from '@eyrie/kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startEngine } from '../../../test/fixtures/engine/engine.ts'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'

const folder = mkdtempSync(join(tmpdir(), 'eyrie-consent-'))
let engine: Service
let server: ListeningServer
beforeAll(async () => {
  ;({ engine } = await startEngine(join(folder, 'data')))
  server = await listen(engine, '127.0.0.1', 0)
})
afterAll(async () => {
  await server.close()
  await engine.stop()
  rmSync(folder, { recursive: true })
})

/**
 * Runs a command. `answer`: what somebody types at the terminal; without it, there is no terminal.
 */
async function run(line: string, answer?: string) {
  return runEyrieCommand(line.split(' '), {
    data: join(folder, 'data'),
    environment: { EYRIE_ENGINE_URL: `http://127.0.0.1:${server.port}` },
    answer,
  })
}

/** Writes a version of a plugin into its folder, and returns the command that adds it. */
function write(name: string, version: string, fields: Partial<Capabilities>): string {
  writePlugin(folder, { name, version, element: { capabilities: capabilities.parse(fields) } })
  return `plugin add ${join(folder, name)}`
}

const listVersions = async (name: string) => {
  const plugins = JSON.parse((await run('plugin list --json')).out)
  const plugin = plugins.find((each: { name: string }) => each.name === name)
  return plugin && [plugin.active, plugin.versions.length]
}

describe('eyrie plugin on a terminal', () => {
  it('installs a plugin only after a yes', async () => {
    const add = write('gate', '1.0.0', { network: ['api.example.com:443'], budget_ms: 5 })
    for (const answer of ['\n', 'n\n', 'yo\n']) {
      expect(await run(add, answer)).toMatchObject({
        code: 1,
        err: expect.stringContaining('nothing was installed'),
      })
    }
    expect(await listVersions('gate')).toBeUndefined()

    const added = await run(add, 'y\n')
    expect(added).toMatchObject({ code: 0, err: 'Install gate 1.0.0? [y/N] ' })
    expect(added.out).toContain('gate sends requests to api.example.com:443\n')
    expect(await run(add, '')).toMatchObject({
      code: 0,
      out: 'unchanged; 1.0.0 is active\n',
      err: '',
    })
    expect((await run(`${write('barrier', '1.0.0', {})} --yes`, '')).err).toBe('')
  })

  it('grants more to a later version only after a yes', async () => {
    await run(write('crowd', '1.0.0', { budget_ms: 5 }))
    const upgrade = await run(write('crowd', '1.1.0', { budget_ms: 5, counters: ['up'] }), 'y\n')
    expect(upgrade.out).toContain(
      'crowd 1.1.0 asks for more than was granted:\n  crowd counts up\n',
    )

    expect(await run('plugin use crowd 1.1.0', 'n\n')).toMatchObject({
      code: 1,
      out: 'crowd 1.1.0 asks for more than was granted:\n  crowd counts up\n',
      err: expect.stringMatching(/^Grant it\? \[y\/N\] .*nothing was changed/s),
    })
    expect(await listVersions('crowd')).toEqual(['1.0.0', 2])
    expect((await run('plugin show crowd')).out).toContain('not granted:\n  crowd counts up\n')
    expect(await run('plugin use crowd 1.1.0', 'Yes\n')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/active crowd 1\.1\.0\n$/),
    })
    expect(await run('plugin use crowd 1.0.0', '')).toMatchObject({
      code: 0,
      out: 'active crowd 1.0.0\n',
    })
  })
})

describe('eyrie plugin in a script', () => {
  it('installs a plugin, but needs --grant for a version that asks for more', async () => {
    await run(write('meter', '1.0.0', { budget_ms: 5 }))
    const added = await run(`${write('meter', '1.1.0', { budget_ms: 8 })} --json`)
    expect(JSON.parse(added.out)).toMatchObject({ active: '1.0.0' })
    expect(added.err).toContain('meter uses up to 8 ms of CPU time per frame, granted: 5 ms\n')

    expect(await run('plugin use meter 1.1.0')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(
        /asks for more than was granted: meter uses up to 8 ms of CPU time per frame, granted: 5 ms\. To grant it: eyrie plugin use meter 1\.1\.0 --grant/,
      ),
    })
    expect(await run('plugin use meter 1.1.0 --grant')).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^meter 1\.1\.0 asks for more than was granted:\n.*\nactive meter 1\.1\.0\n$/,
      ),
    })
  })
})
