import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'

const PROGRAM = join(import.meta.dirname, 'main.ts')

describe('the program eyrie', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'lets a command that runs until Ctrl-C end what it has started after %s',
    async signal => {
      const data = createTemporaryFolder()
      mkdirSync(join(data, 'log'))
      const log = (msg: string) => {
        const record = { level: 30, time: '2026-01-02T03:04:05.000Z', service: 'media', msg }
        appendFileSync(join(data, 'log/eyrie.log'), `${JSON.stringify(record)}\n`)
      }
      log('first')
      const child = spawn(process.execPath, [PROGRAM, 'logs', '--follow'], {
        env: { ...process.env, EYRIE_DATA: data },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      expect((await lines.next()).value).toContain('first')
      // The command handles signals once it follows the log.
      log('second')
      expect((await lines.next()).value).toContain('second')

      child.kill(signal)
      expect(await once(child, 'exit')).toEqual([0, null])
    },
  )

  it('ends as SIGPIPE ends a program when the reader of its output has ended', async () => {
    const child = spawn('bash', [
      // Bash takes its input, a socket, for that of a remote user, and would read ~/.bashrc.
      '--norc',
      '-c',
      '"$0" "$1" --help | true; echo $PIPESTATUS',
      process.execPath,
      PROGRAM,
    ])
    onTestFinished(() => void child.kill('SIGKILL'))
    expect(await text(child.stdout)).toBe('141\n')
  })

  it('fails with the reason if its output cannot be written', async () => {
    const child = spawn('bash', [
      '--norc',
      '-c',
      '"$0" "$1" --help >/dev/full; echo "$?"',
      process.execPath,
      PROGRAM,
    ])
    onTestFinished(() => void child.kill('SIGKILL'))
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect({ out, err }).toEqual({
      out: '1\n',
      err: expect.stringMatching(/^eyrie: the output cannot be written: .*ENOSPC/),
    })
  })
})
