import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { createConsole, printer } from './console.ts'
import { keepRunning, type Supervised } from './process.ts'

const folder = mkdtempSync(join(tmpdir(), 'eyrie-process-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function program(name: string, text: string): string {
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, text)
  return file
}

function run(file: string): { service: Supervised; lines: string[] } {
  const lines: string[] = []
  const service = keepRunning(
    { name: 'service', args: [file], environment: { PATH: process.env.PATH } },
    createConsole([printer(line => lines.push(line), false)]),
  )
  return { service, lines }
}

const alive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const printed = (lines: string[], text: string) =>
  vi.waitFor(() => expect(lines.join('\n')).toContain(text), 10_000)

/** Starts a child of its own, says both pids, and ignores requests to end. */
const stubborn = `
import { spawn } from 'node:child_process'
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
process.on('SIGTERM', () => console.log('not yet'))
console.log('pids', process.pid, child.pid)
setInterval(() => {}, 1000)
`

it('starts a process again after it was killed', async () => {
  const { service, lines } = run(
    program('steady', "console.log('up', process.pid); setInterval(() => {}, 1000)"),
  )
  await printed(lines, 'up')
  const first = service.pid as number
  process.kill(first, 'SIGKILL')
  await printed(lines, 'ended with SIGKILL; starting it again in 0.5 s')
  await vi.waitFor(() => expect(service.pid).not.toBe(first), 10_000)
  expect(service.restarts).toBe(1)
  await service.stop(2_000)
})

it('starts a process again that could not be started', async () => {
  const { execPath } = process
  process.execPath = join(folder, 'no-node')
  const { service, lines } = run(program('late', "console.log('up'); setInterval(() => {}, 1000)"))
  await printed(lines, 'did not start; starting it again in 0.5 s')
  process.execPath = execPath
  await printed(lines, 'up')
  expect(lines.join('\n')).toContain('cannot be started: spawn')
  await service.stop(2_000)
})

it('waits longer each time a process fails at once', async () => {
  const { service, lines } = run(program('broken', "console.log('no database'); process.exit(3)"))
  await printed(lines, 'ended with code 3; starting it again in 0.5 s')
  await printed(lines, 'ended with code 3; starting it again in 1 s')
  await service.stop(2_000)
})

it('kills a process that does not end, and what it has started', async () => {
  const { service, lines } = run(program('stubborn', stubborn))
  await printed(lines, 'pids')
  const pids =
    lines
      .join(' ')
      .match(/pids (\d+) (\d+)/)
      ?.slice(1)
      .map(Number) ?? []
  expect(pids).toHaveLength(2)
  await service.stop(200)
  await vi.waitFor(() => expect(pids.filter(alive)).toEqual([]), 10_000)
})
