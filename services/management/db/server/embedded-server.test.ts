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
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { connect } from '../connection.ts'
import { SUPERUSER, startServer } from './embedded-server.ts'

const log = createLog('management', 'silent')

let template: string

beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), 'eyrie-server-'))
  const server = await startServer(template, log)
  await server.stop()
})
afterAll(() => rmSync(template, { recursive: true, force: true }))

/** Copies an initialized folder: initializing one takes seconds on a busy machine. */
function initializedFolder(folder = createTemporaryFolder()): string {
  execFileSync('cp', ['-a', join(template, 'data'), folder])
  return folder
}

async function start(folder = initializedFolder()) {
  const server = await startServer(folder, log)
  onTestFinished(() => server.stop())
  return { folder, server }
}

const administration = (server: Awaited<ReturnType<typeof startServer>>) =>
  server.target(SUPERUSER, 'postgres')

async function ask<T>(
  server: Awaited<ReturnType<typeof startServer>>,
  query: string,
): Promise<T[]> {
  const sql = connect(administration(server))
  try {
    return (await sql.unsafe(query)) as unknown as T[]
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Returns the processes whose working directory is the server's data directory. */
function listProcesses(folder: string): number[] {
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

describe('embedded server', () => {
  it('aborts its first start at once, and starts from scratch the next time', async () => {
    const folder = createTemporaryFolder()
    const aborting = new AbortController()
    const starting = startServer(folder, log, { signal: aborting.signal })
    const aborted = expect(starting).rejects.toThrow('initdb')
    await vi.waitUntil(() => existsSync(join(folder, 'data.new/PG_VERSION')), {
      timeout: 60_000,
      interval: 10,
    })
    aborting.abort()
    await aborted
    expect(existsSync(join(folder, 'data'))).toBe(false)
    await start(folder)
  }, 180_000)

  it('retains committed data when it is stopped, and leaves no process behind', async () => {
    const { folder, server } = await start()
    await ask(server, 'create table kept as select 7 as n')
    expect(listProcesses(folder)).not.toEqual([])
    await server.stop()
    expect(listProcesses(folder)).toEqual([])
    const again = await start(folder)
    expect(await ask(again.server, 'select n from kept')).toEqual([{ n: 7 }])
  })

  it('listens on no network interface', async () => {
    const { server } = await start()
    expect(await ask(server, 'show listen_addresses')).toEqual([{ listen_addresses: '' }])
  })

  it('restarts after it is killed, with all committed data', async () => {
    const { server } = await start()
    await ask(server, 'create table kept as select 7 as n')
    const { pid } = server
    process.kill(pid!, 'SIGKILL')
    await vi.waitUntil(() => server.pid !== pid)
    await vi.waitFor(async () =>
      expect(await ask(server, 'select n from kept')).toEqual([{ n: 7 }]),
    )
  })

  it('rejects a second process on the same folder', async () => {
    const { folder } = await start()
    await expect(startServer(folder, log)).rejects.toThrow('is in use by another process')
  })

  it('starts despite a stale pid file and an incomplete data directory of a crash', async () => {
    const { folder, server } = await start()
    await ask(server, 'create table kept as select 7 as n')
    await server.stop()
    const unrelated = spawn('sleep', ['60'])
    onTestFinished(() => void unrelated.kill())
    writeFileSync(
      join(folder, 'data/postmaster.pid'),
      `${unrelated.pid}\n${join(folder, 'data')}\n`,
    )
    mkdirSync(join(folder, 'data.new'))
    const again = await start(folder)
    expect(await ask(again.server, 'select n from kept')).toEqual([{ n: 7 }])
    expect(unrelated.exitCode).toBeNull()
  })

  it('is reachable in a folder whose path exceeds the length of a socket address', async () => {
    const folder = join(createTemporaryFolder(), 'x'.repeat(120))
    mkdirSync(folder)
    const { server } = await start(initializedFolder(folder))
    expect(await ask(server, 'select 7 as n')).toEqual([{ n: 7 }])
  })

  it('rejects data of another major version with instructions, and leaves it unchanged', async () => {
    const folder = createTemporaryFolder()
    mkdirSync(join(folder, 'data'))
    writeFileSync(join(folder, 'data/PG_VERSION'), '17\n')
    await expect(startServer(folder, log)).rejects.toThrow(
      /created by Postgres 17.*\.\/eyrie backup/,
    )
    expect(readdirSync(join(folder, 'data'))).toEqual(['PG_VERSION'])
  })

  it('exits when the process that started it is killed', async () => {
    const folder = initializedFolder()
    const script = `
      import { createLog } from '@eyrie/kit'
      import { startServer } from '${join(import.meta.dirname, 'embedded-server.ts')}'
      await startServer('${folder}', createLog('management', 'silent'))
      process.stdout.write('started')`
    const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void parent.kill('SIGKILL'))
    await once(parent.stdout, 'data')
    expect(listProcesses(folder)).not.toEqual([])
    parent.kill('SIGKILL')
    await vi.waitUntil(() => listProcesses(folder).length === 0)
    expect(existsSync(join(folder, 'data/postmaster.pid'))).toBe(false)
  })
})
