import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
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
})
