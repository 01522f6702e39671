import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { isRunning } from '../../test/fixtures/processes/processes.ts'
import { createPrinter, createServiceLog } from './service-log.ts'
import { type SupervisedProcess, superviseProcess } from './supervised-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'eyrie-process-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function writeProgram(name: string, text: string): string {
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, text)
  return file
}

function run(file: string): { service: SupervisedProcess; lines: string[] } {
  const lines: string[] = []
  const service = superviseProcess(
    { name: 'service', args: [file], environment: { PATH: process.env.PATH } },
    createServiceLog([createPrinter(line => lines.push(line))]),
  )
  return { service, lines }
}

const waitForOutput = (lines: string[], text: string) =>
  vi.waitFor(() => expect(lines.join('\n')).toContain(text))

/** Starts a child, prints both pids, and ignores SIGTERM. */
const stubborn = `
import { spawn } from 'node:child_process'
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
process.on('SIGTERM', () => console.log('not yet'))
console.log('pids', process.pid, child.pid)
setInterval(() => {}, 1000)
`

it('restarts a process that was killed', async () => {
  const { service, lines } = run(
    writeProgram('steady', "console.log('up', process.pid); setInterval(() => {}, 1000)"),
  )
  await waitForOutput(lines, 'up')
  const first = service.pid as number
  process.kill(first, 'SIGKILL')
  await waitForOutput(lines, 'process exited; restarting signal=SIGKILL delay_s=0.5')
  await vi.waitFor(() => expect(lines.join('\n')).toMatch(new RegExp(`up ${first}[^]*up \\d`)))
  expect(service.pid).not.toBe(first)
  expect(service.restarts).toBe(1)
  await service.stop(2_000)
})

it('restarts a process on request', async () => {
  const { service, lines } = run(
    writeProgram('restarted', "console.log('up', process.pid); setInterval(() => {}, 1000)"),
  )
  await waitForOutput(lines, 'up')
  const first = service.pid as number
  service.restart(2_000)
  await vi.waitFor(() => expect(lines.join('\n')).toMatch(new RegExp(`up ${first}[^]*up \\d`)))
  expect(service.pid).not.toBe(first)
  await service.stop(2_000)
})

it('lets a process end in order although several restarts are requested', async () => {
  const program = `
    process.once('SIGTERM', () => setTimeout(() => {
      console.log('ended in order')
      process.exit(0)
    }, 300))
    console.log('up', process.pid)
    setInterval(() => {}, 1000)`
  const { service, lines } = run(writeProgram('orderly', program))
  await waitForOutput(lines, 'up')
  for (let request = 0; request < 3; request++) service.restart(10_000)
  await waitForOutput(lines, 'process exited; restarting code=0')
  expect(lines.join('\n')).toContain('ended in order')
  await service.stop(2_000)
})

it('kills a process that does not end for a restart', async () => {
  const { service, lines } = run(writeProgram('hanging', stubborn))
  await waitForOutput(lines, 'pids')
  service.restart(200)
  await waitForOutput(lines, 'process did not stop in time; killing it grace_s=0.2')
  await waitForOutput(lines, 'process exited; restarting signal=SIGKILL')
  await service.stop(200)
})

it('passes on the messages of a process, and does not log them', async () => {
  const file = writeProgram(
    'sender',
    "process.send({ secret: 'xyzzy' }); setInterval(() => {}, 1000)",
  )
  const lines: string[] = []
  const messages: unknown[] = []
  const service = superviseProcess(
    { name: 'service', args: [file], environment: { PATH: process.env.PATH } },
    createServiceLog([createPrinter(line => lines.push(line))]),
    message => messages.push(message),
  )
  await vi.waitFor(() => expect(messages).toEqual([{ secret: 'xyzzy' }]))
  await service.stop(2_000)
  expect(lines.join()).not.toContain('xyzzy')
})

it('passes secrets through a pipe, at every start, and not in the environment', async () => {
  const program = `
    import { readFileSync } from 'node:fs'
    const { EYRIE_SECRETS_FD } = process.env
    console.log(readFileSync(Number(EYRIE_SECRETS_FD), 'utf8'), readFileSync('/proc/self/environ', 'utf8').includes('xyzzy'))
    process.exit(1)`
  const lines: string[] = []
  const command = { name: 'service', args: [writeProgram('reader', program)], environment: {} }
  const service = superviseProcess(
    { ...command, secrets: { EYRIE_INTERNAL_TOKEN: 'xyzzy' } },
    createServiceLog([createPrinter(line => lines.push(line))]),
  )
  const answers = () =>
    lines.filter(line => line.includes('{"EYRIE_INTERNAL_TOKEN":"xyzzy"} false'))
  await vi.waitUntil(() => answers().length >= 2)
  await service.stop(2_000)
})

it('retries a process that could not be started', async () => {
  const { execPath } = process
  process.execPath = join(folder, 'no-node')
  const { service, lines } = run(
    writeProgram('late', "console.log('up'); setInterval(() => {}, 1000)"),
  )
  await waitForOutput(lines, 'process did not start; retrying delay_s=0.5')
  process.execPath = execPath
  await waitForOutput(lines, 'up')
  expect(lines.join('\n')).toContain('failed to start process: spawn')
  await service.stop(2_000)
})

it('doubles the delay when a process exits at once', async () => {
  const { service, lines } = run(
    writeProgram('broken', "console.log('no database'); process.exit(3)"),
  )
  await waitForOutput(lines, 'process exited; restarting code=3 delay_s=0.5')
  await waitForOutput(lines, 'process exited; restarting code=3 delay_s=1')
  await service.stop(2_000)
})

it('reports and kills a process that ignores SIGTERM, and has ended all its children', async () => {
  const { service, lines } = run(writeProgram('stubborn', stubborn))
  await waitForOutput(lines, 'pids')
  const pids =
    lines
      .join(' ')
      .match(/pids (\d+) (\d+)/)
      ?.slice(1)
      .map(Number) ?? []
  expect(pids).toHaveLength(2)
  await service.stop(200)
  expect(pids.filter(isRunning)).toEqual([])
  expect(lines.join('\n')).toContain('process did not stop in time; killing it grace_s=0.2')
})

it('starts a process through another command, with its permissions for new files', async () => {
  const file = join(folder, 'created')
  const program = `
    import { writeFileSync } from 'node:fs'
    writeFileSync('${file}', '', { mode: 0o666 })
    console.log(process.env.LAUNCHED)`
  const lines: string[] = []
  const command = { name: 'service', args: [writeProgram('launched', program)], environment: {} }
  const service = superviseProcess(
    { ...command, launcher: ['/usr/bin/env', 'LAUNCHED=by env'], umask: 0o027 },
    createServiceLog([createPrinter(line => lines.push(line))]),
  )
  await vi.waitUntil(() => lines.some(line => line.includes('by env')))
  await service.stop(2_000)
  expect(statSync(file).mode & 0o777).toBe(0o640)
  expect(process.umask()).not.toBe(0o027)
})

it('sends the latest published message at every start', async () => {
  const program = `
    process.on('message', message => {
      console.log('received', message)
      process.exit(1)
    })`
  const lines: string[] = []
  const service = superviseProcess(
    { name: 'service', args: [writeProgram('listener', program)], environment: {} },
    createServiceLog([createPrinter(line => lines.push(line))]),
  )
  service.publish('news')
  await vi.waitUntil(() => lines.filter(line => line.includes('received news')).length >= 2)
  await service.stop(2_000)
})
