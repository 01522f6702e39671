import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../../../../test/fixtures/temporary.ts'
import { connect } from '../connection.ts'
import { startServer, superuser } from './server.ts'

const log = createLog('management', 'silent')

let template: string

beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), 'eyrie-server-'))
  const server = await startServer(template, log)
  await server.stop()
})
afterAll(() => rmSync(template, { recursive: true, force: true }))

/** A folder as a first start leaves it, which takes seconds where much goes on. */
function usedFolder(folder = temporaryFolder()): string {
  execFileSync('cp', ['-a', join(template, 'data'), folder])
  return folder
}

async function start(folder = usedFolder()) {
  const server = await startServer(folder, log)
  onTestFinished(() => server.stop())
  return { folder, server }
}

const administration = (server: Awaited<ReturnType<typeof startServer>>) =>
  server.target(superuser, 'postgres')

async function ask<T>(server: Awaited<ReturnType<typeof startServer>>, query: string): Promise<T[]> {
  const sql = connect(administration(server))
  try {
    return (await sql.unsafe(query)) as unknown as T[]
  } finally {
    await sql.end({ timeout: 1 })
  }
}

test('a first start ends at once when it is told to, and the next begins anew', async () => {
  const folder = temporaryFolder()
  const ending = new AbortController()
  const starting = startServer(folder, log, {}, ending.signal)
  const ended = expect(starting).rejects.toThrow('initdb')
  await vi.waitUntil(() => existsSync(join(folder, 'data.new/PG_VERSION')), { timeout: 20_000, interval: 10 })
  ending.abort()
  await ended
  expect(existsSync(join(folder, 'data'))).toBe(false)
  await start(folder)
}, 60_000)

/** Processes that work in the server's data folder. */
function processesOf(folder: string): number[] {
  const data = realpathSync(join(folder, 'data'))
  return readdirSync('/proc')
    .map(Number)
    .filter(pid => {
      try {
        return pid > 0 && readlinkSync(`/proc/${pid}/cwd`) === data
      } catch {
        return false
      }
    })
}

describe('the database server', () => {
  test('keeps what is written, and leaves no process behind', async () => {
    const { folder, server } = await start()
    await ask(server, 'create table kept as select 7 as n')
    expect(processesOf(folder)).not.toEqual([])
    await server.stop()
    expect(processesOf(folder)).toEqual([])
    const again = await start(folder)
    expect(await ask(again.server, 'select n from kept')).toEqual([{ n: 7 }])
  })

  test('listens on no network', async () => {
    const { server } = await start()
    expect(await ask(server, 'show listen_addresses')).toEqual([{ listen_addresses: '' }])
  })

  test('is started again when it is killed, and has lost nothing that was committed', async () => {
    const { server } = await start()
    await ask(server, 'create table kept as select 7 as n')
    const { pid } = server
    process.kill(pid!, 'SIGKILL')
    await vi.waitUntil(() => server.pid !== pid)
    await vi.waitFor(async () => expect(await ask(server, 'select n from kept')).toEqual([{ n: 7 }]))
  })

  test('serves one process at a time', async () => {
    const { folder } = await start()
    await expect(startServer(folder, log)).rejects.toThrow('is in use by another process')
  })

  test('passes over what a crash has left: a note of a process that is no server, an unfinished folder', async () => {
    const { folder, server } = await start()
    await ask(server, 'create table kept as select 7 as n')
    await server.stop()
    const bystander = spawn('sleep', ['60'])
    onTestFinished(() => void bystander.kill())
    writeFileSync(join(folder, 'data/postmaster.pid'), `${bystander.pid}\n${join(folder, 'data')}\n`)
    mkdirSync(join(folder, 'data.new'))
    const again = await start(folder)
    expect(await ask(again.server, 'select n from kept')).toEqual([{ n: 7 }])
    expect(bystander.exitCode).toBeNull()
  })

  test('is reached however long the path of its folder is', async () => {
    const folder = join(temporaryFolder(), 'x'.repeat(120))
    mkdirSync(folder)
    const { server } = await start(usedFolder(folder))
    expect(await ask(server, 'select 7 as n')).toEqual([{ n: 7 }])
  })

  test('refuses data of another major version, saying what to do, and leaves it alone', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'data'))
    writeFileSync(join(folder, 'data/PG_VERSION'), '17\n')
    await expect(startServer(folder, log)).rejects.toThrow(/made by Postgres 17.*\.\/eyrie backup/)
    expect(readdirSync(join(folder, 'data'))).toEqual(['PG_VERSION'])
  })

  test('ends with the process that has started it, however that ends', async () => {
    const folder = usedFolder()
    const script = `
      import { createLog } from '@eyrie/kit'
      import { startServer } from '${join(import.meta.dirname, 'server.ts')}'
      await startServer('${folder}', createLog('management', 'silent'))
      process.stdout.write('started')`
    const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void parent.kill('SIGKILL'))
    await once(parent.stdout, 'data')
    expect(processesOf(folder)).not.toEqual([])
    parent.kill('SIGKILL')
    await vi.waitUntil(() => processesOf(folder).length === 0)
    expect(existsSync(join(folder, 'data/postmaster.pid'))).toBe(false)
  })
})
