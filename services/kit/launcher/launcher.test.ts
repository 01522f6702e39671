import { execFileSync, spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { LAUNCHER, run } from './launched-program.fixture.ts'

describe('launcher', () => {
  it('reports why it could not start a program', async () => {
    const missing = await run(['/nowhere/program'], {})
    expect(missing).toMatchObject({
      code: 126,
      report: { error: 'failed to start /nowhere/program: No such file or directory' },
    })
    const relative = await run(['program'], {})
    expect(relative.report).toEqual({ error: 'invalid path program: use an absolute path' })
    const folder = await run(['/bin/true'], { read: ['data'] })
    expect(folder.report).toEqual({ error: 'invalid path data: use an absolute path' })
  })

  it.each([
    ['--reed=/', 'unknown or incomplete option --reed=/'],
    ['--parent', 'unknown or incomplete option --parent'],
    ['--cpu-seconds=1h', 'invalid number 1h: use a decimal number'],
    ['--sockets', 'no program: end the options with -- and the absolute path of a program'],
  ])('rejects the option %s', async (option, error) => {
    const child = spawn(LAUNCHER, [option])
    expect(JSON.parse(await text(child.stderr))).toEqual({ error })
  })

  it('compiles without warnings', { timeout: 180_000 }, () => {
    const source = resolve(import.meta.dirname, 'src')
    const options = [
      '-std=gnu11',
      '-O2',
      '-Wall',
      '-Wextra',
      '-Wconversion',
      '-Werror',
      '-fsyntax-only',
    ]
    execFileSync('sh', ['-c', `gcc ${options.join(' ')} *.c`], { cwd: source, stdio: 'pipe' })
  })

  it('has no errors of memory under the address sanitizer', { timeout: 180_000 }, async () => {
    const folder = createTemporaryFolder()
    const checked = join(folder, 'launcher')
    const options = '-std=gnu11 -g -fsanitize=address,undefined -static-libasan'
    execFileSync('sh', ['-c', `gcc ${options} -o ${checked} *.c`], {
      cwd: resolve(import.meta.dirname, 'src'),
      stdio: 'pipe',
    })
    const grants = ['--read=/usr', '--execute=/', '--write=/tmp', '--device=/dev/null', '--sockets']
    const numbers = ['--cpu-seconds=60', '--open-files=64', '--file-bytes=0']
    const child = spawn(checked, [
      ...grants,
      ...numbers,
      `--parent=${process.pid}`,
      '--',
      '/bin/echo',
      'started',
    ])
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect(JSON.parse(errors)).toEqual({ landlock: expect.any(Number), missing: [] })
    expect(output).toBe('started\n')
  })
})
