import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startTcpServer } from '../../../test/fixtures/network/tcp-server.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { readOwnIsolation, toIsolation } from './isolation.ts'
import { launch, launchNode, toLaunchCommand } from './launch.ts'
import { LAUNCHER, limits, run } from './launched-program.fixture.ts'
import type { LaunchPolicy } from './policy.ts'

const x64 = {
  isMet: arch() === 'x64',
  reason: 'only x86_64 has several interfaces of system calls',
}
const root = { isMet: process.getuid?.() === 0, reason: 'the test has to run as root' }

/** A process of the same user, which does nothing. */
function startVictim(): number {
  const victim = spawn('/bin/sleep', ['600'])
  onTestFinished(() => void victim.kill('SIGKILL'))
  return victim.pid!
}

function parseLines(output: string): Record<string, string> {
  const lines = output.trim().split('\n')
  return Object.fromEntries(lines.map(line => line.split(': ') as [string, string]))
}

describe('launched program', () => {
  let folder: string
  let attempts: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'eyrie-launcher-'))
    attempts = join(folder, 'attempts')
    execFileSync('gcc', ['-o', attempts, resolve(import.meta.dirname, 'attempts.fixture.c')])
    return () => rmSync(folder, { recursive: true })
  })

  it('can use nothing that the policy does not grant', async () => {
    const refused = join(folder, 'refused')
    const granted = join(folder, 'granted')
    for (const path of [refused, granted]) writeFileSync(path, 'content')

    const { stdout, report } = await run([attempts, String(startVictim()), refused, granted], {
      read: [granted],
    })
    const { 'read a granted file': reading, ...others } = parseLines(stdout)
    expect(report).toEqual({ landlock: expect.any(Number), missing: [] })
    expect(reading).toBe('allowed')
    expect(others).toEqual({
      descriptors: '4',
      core: '0',
      no_new_privs: '1',
      leader: 'yes',
      'read a file': 'EACCES',
      'read the accounts': 'EACCES',
      'list the root folder': 'EACCES',
      'create a file': 'EACCES',
      'create a folder': 'EACCES',
      'write to a granted file': 'EACCES',
      'empty a file': 'EPERM',
      'change the mode of a file': 'EPERM',
      'change the owner of a file': 'EPERM',
      'delete a file': 'EPERM',
      'signal another process': 'EPERM',
      'signal another thread': 'EPERM',
      'signal by queue': 'EPERM',
      'signal by descriptor': 'EPERM',
      'signal by ioctl': 'EPERM',
      'open another process': 'EPERM',
      ptrace: 'EPERM',
      'read memory': 'EPERM',
      'write memory': 'EPERM',
      'limit another process': 'EPERM',
      'prioritize another process': 'EPERM',
      'outlive the parent': 'EPERM',
      fork: 'EPERM',
      'fork by clone3': 'ENOSYS',
      'start a program': 'EPERM',
      'start a program by descriptor': 'EPERM',
      'open a socket': 'EPERM',
      'open a local socket': 'EPERM',
      'open a raw socket': 'EPERM',
      'open a pair of sockets': 'EPERM',
      io_uring: 'EPERM',
      bpf: 'EPERM',
      keyctl: 'EPERM',
      unshare: 'EPERM',
      'a thread in a new namespace': 'EPERM',
      mount: 'EPERM',
      chroot: 'EPERM',
      perf_event_open: 'EPERM',
      'type into the terminal': 'EPERM',
    })
    expect([readFileSync(refused, 'utf8'), statSync(refused).mode & 0o777]).toEqual([
      'content',
      0o644,
    ])
  })

  it('can use what the policy grants', async () => {
    const path = join(folder, 'writable')
    writeFileSync(path, 'content')
    const { stdout } = await run([attempts, String(startVictim()), path, path], {
      write: [folder],
      sockets: true,
      processes: true,
    })
    expect(parseLines(stdout)).toMatchObject({
      'write to a granted file': 'allowed',
      'empty a file': 'allowed',
      'delete a file': 'allowed',
      'open a socket': 'allowed',
      'open a raw socket': 'EPERM',
      ptrace: 'EPERM',
      'read the accounts': 'EACCES',
    })
  })

  it.for(['i386', 'x32'])(
    'is killed when it uses the system calls of the interface %s, whose numbers differ',
    needs(x64),
    async (name, { skip, task }) => {
      // Some virtual machines lack the interface: there, the program crashes without a policy, too.
      if (spawnSync(attempts, [name]).signal === 'SIGSEGV') {
        task.meta.skipReason = `this machine has no system calls of the interface ${name}`
        skip()
      }
      expect(await run([attempts, name], {})).toMatchObject({ signal: 'SIGSYS', stdout: '' })
    },
  )

  it('has no capabilities, cannot gain privileges, and has the limits of the policy', async () => {
    const { child, report } = launch(
      ['/bin/sleep', '600'],
      { execute: ['/bin/sleep'], limits: { ...limits, cpuSeconds: 7 } },
      { output: 'ignore' },
    )
    onTestFinished(() => void child.kill('SIGKILL'))
    await report
    const read = (file: string) => readFileSync(`/proc/${child.pid}/${file}`, 'utf8')
    expect(read('status')).toMatch(/^CapPrm:\s+0+\nCapEff:\s+0+\n/m)
    expect(read('status')).toMatch(/^NoNewPrivs:\s+1\nSeccomp:\s+2\n/m)
    expect(read('limits')).toMatch(/^Max cpu time +7 +7 /m)
    expect(read('limits')).toMatch(/^Max data size +1073741824 +1073741824 /m)
    expect(read('limits')).toMatch(/^Max open files +64 +64 /m)
    expect(read('limits')).toMatch(/^Max file size +0 +0 /m)
    expect(read('environ')).toMatch(/^NODE_CHANNEL_FD=\d+\0NODE_CHANNEL_SERIALIZATION_MODE=json\0$/)
  })

  it(
    'that root starts below the folder of another user keeps the capability to read it, which is reported',
    needs(root),
    async () => {
      const home = join(folder, 'home')
      mkdirSync(home)
      copyFileSync('/bin/echo', join(home, 'echo'))
      chownSync(home, 65534, 65534)
      chmodSync(home, 0o700)
      const { stdout, report } = await run([join(home, 'echo'), 'started'], {})
      expect(report).toEqual({ landlock: expect.any(Number), missing: ['capabilities'] })
      expect(stdout).toBe('started\n')
    },
  )

  it(
    'that root starts on a data folder of another user keeps the capability to write, which is reported',
    needs(root),
    async () => {
      const data = join(folder, 'data')
      mkdirSync(data, { mode: 0o755 })
      chownSync(data, 65534, 65534)
      const file = join(data, 'file')
      const { code, report } = await run(['/bin/cp', '/bin/true', file], {
        write: [data],
        read: ['/bin'],
        limits: {},
      })
      expect(report).toEqual({ landlock: expect.any(Number), missing: ['capabilities'] })
      expect([code, existsSync(file)]).toEqual([0, true])
    },
  )

  it('knows its own boundaries', () => {
    const [launcher, ...args] = toLaunchCommand(
      ['/usr/bin/env'],
      { execute: ['/usr/bin/env'], limits },
      { inherit: 3, reportToProgram: true },
    )
    const variables = execFileSync(launcher, args, { encoding: 'utf8', env: {} }).trim().split('=')
    expect(readOwnIsolation({ [variables[0]!]: variables[1] })).toEqual({
      level: 'full',
      missing: [],
    })
    expect(readOwnIsolation({})).toMatchObject({
      level: 'none',
      missing: [expect.stringContaining('make run')],
    })
  })

  it('receives the signal of its choice when its parent ends', async () => {
    const options = { inherit: 3, parentSignal: 'SIGTERM' } as const
    // The kernel may send the signal again for each thread of the parent that ends.
    const child = `
      process.on('SIGTERM', () => { console.log('ended'); process.exit() })
      console.log('started')
      setInterval(() => {}, 1000)`
    const policy = { execute: [process.execPath], limits }
    const module = resolve(import.meta.dirname, 'launch.ts')
    const program = `
      import { spawn } from 'node:child_process'
      import { toLaunchCommand } from '${module}'
      const command = [process.execPath, '-e', ${JSON.stringify(child)}]
      const [program, ...args] = toLaunchCommand(command, ${JSON.stringify(policy)}, ${JSON.stringify(options)})
      spawn(program, args, { cwd: '/', stdio: ['ignore', 'inherit', 'ignore'] })`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', program])
    onTestFinished(() => void parent.kill('SIGKILL'))
    let output = ''
    parent.stdout.on('data', data => {
      output += data
      if (output === 'started\n') parent.kill('SIGKILL')
    })
    await once(parent.stdout, 'close')
    expect(output).toBe('started\nended\n')
  })

  it('ends when its parent is killed', async () => {
    const parent = spawn(process.execPath, [resolve(import.meta.dirname, 'parent.fixture.ts')])
    onTestFinished(() => void parent.kill('SIGKILL'))
    const [line] = await once(parent.stdout, 'data')
    const pid = Number(line)
    expect(existsSync(`/proc/${pid}`)).toBe(true)
    parent.kill('SIGKILL')
    await vi.waitUntil(() => !existsSync(`/proc/${pid}`), { timeout: 60_000 })
  })

  it('is not started if its parent has ended before the launcher could follow it', async () => {
    const child = spawn(LAUNCHER, ['--parent=1', '--', '/bin/echo', 'started'])
    expect(await text(child.stdout)).toBe('')
  })

  it('inherits only standard descriptors and the channel of messages', async () => {
    const secret = openSync('/etc/passwd', 'r')
    onTestFinished(() => closeSync(secret))
    const stdio = ['ignore', 'pipe', 'ignore', secret, 'ignore', secret] as const
    const options = ['--execute=/', `--parent=${process.pid}`]
    const child = spawn(LAUNCHER, [...options, '--', attempts, '0', '/', '/'], {
      stdio: [...stdio],
    })
    expect(parseLines(await text(child.stdout!))).toMatchObject({ descriptors: '3' })
  })

  it('runs without boundaries that the surroundings refuse, which is reported', async () => {
    // A launched program cannot set up boundaries of its own, like one in a container
    // with an old profile.
    const inner = [`--parent=${process.pid}`, '--report=1', '--', '/bin/echo', 'started'] as const
    const { stdout } = await run([LAUNCHER, ...inner], { execute: ['/bin/echo'], processes: true })
    const [report, output] = stdout.trim().split('\n')
    expect(JSON.parse(report!)).toEqual({ landlock: 0, missing: ['files', 'system calls'] })
    expect(output).toBe('started')
  })
})

describe('launched Node', () => {
  const policy = (folder: string): LaunchPolicy => ({ read: [folder], limits })

  it('exchanges messages with its parent, and reads only what is granted', async () => {
    const folder = createTemporaryFolder()
    const module = join(folder, 'module.mjs')
    writeFileSync(
      module,
      `import { readFileSync } from 'node:fs'
      const attempt = doing => { try { return String(doing()) } catch (error) { return error.code } }
      process.once('message', path => {
        process.send([path, '/etc/passwd', '/proc/self/environ'].map(each => attempt(() => readFileSync(each))))
        process.disconnect()
      })`,
    )
    const { child } = launchNode([module], policy(folder), { output: 'ignore' })
    const answer = once(child, 'message')
    writeFileSync(join(folder, 'granted'), 'content')
    child.send(join(folder, 'granted'))
    expect((await answer)[0]).toEqual(['content', 'EACCES', 'EACCES'])
  })

  it('opens no connection', async () => {
    const { port, connections } = await startTcpServer()
    const folder = createTemporaryFolder()
    const module = join(folder, 'module.mjs')
    writeFileSync(
      module,
      `import { connect } from 'node:net'
      connect(${port}, '127.0.0.1').on('connect', () => process.exit(0)).on('error', () => process.exit(3))`,
    )
    const { child } = launchNode([module], policy(folder), { output: 'ignore' })
    expect(await once(child, 'exit')).toEqual([3, null])
    expect(connections).toEqual([])
  })
})

describe('isolation', () => {
  it('is full, partial or none, and describes what is missing', () => {
    expect(toIsolation({ landlock: 7, missing: [] })).toEqual({ level: 'full', missing: [] })
    expect(toIsolation({ landlock: 0, missing: ['files'] })).toMatchObject({
      level: 'partial',
      missing: [expect.stringContaining('lsm=')],
    })
    expect(toIsolation({ landlock: 0, missing: ['files', 'system calls'] }).level).toBe('none')
    expect(toIsolation({ error: 'reason' })).toEqual({ level: 'none', missing: ['reason'] })
  })
})
