import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

const isRoot = process.getuid?.() === 0
/** The capabilities of root would permit reading everything, and prevent others from reading it. */
const withoutCapabilities = isRoot ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : ['env']

const run = (...command: string[]) => [...withoutCapabilities, ...command] as [string, ...string[]]

/**
 * Starts a Node process with a secret in its environment. Returns its id when it has run `program`.
 */
async function start(program: string): Promise<number> {
  const source = `${program}; console.log('ready'); setInterval(() => {}, 1000)`
  const [command, ...args] = run(process.execPath, '--input-type=module', '-e', source)
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, SECRET: 'xyzzy' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child.pid!
}

/** Reads a file of a process as another process of the same user. */
function read(pid: number, file: string): string {
  const [command, ...args] = run('cat', `/proc/${pid}/${file}`)
  return spawnSync(command, args, { encoding: 'utf8' }).stdout
}

describe('protectMemory', () => {
  const module = resolve(import.meta.dirname, 'protect-memory.ts')

  it('closes the environment and the memory of a process to others of the same user', async () => {
    const open = await start('')
    expect(read(open, 'environ')).toContain('xyzzy')
    expect(read(open, 'maps')).not.toBe('')

    const closed = await start(
      `import { protectMemory } from '${module}'; if (protectMemory()) process.exit(1)`,
    )
    expect(read(closed, 'environ')).toBe('')
    expect(read(closed, 'maps')).toBe('')
    expect(readFileSync(`/proc/${closed}/limits`, 'utf8')).toMatch(/^Max core file size +0 +0 /m)
  })

  it('compiles without warnings', () => {
    const node = resolve(process.execPath, '../../include/node')
    const options = [
      '-std=gnu11',
      '-Wall',
      '-Wextra',
      '-Wconversion',
      '-Werror',
      '-fsyntax-only',
      '-isystem',
      node,
    ]
    execFileSync('gcc', [...options, resolve(import.meta.dirname, 'src/protection.c')], {
      stdio: 'pipe',
    })
  })
})
