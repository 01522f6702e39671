import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = promisify(execFile)

/** Runs in a separate process, so that a crash fails the test and memory is measured separately. */
async function exercise(name: string, ...args: string[]): Promise<string> {
  const script = join(import.meta.dirname, 'exercise', `${name}.ts`)
  const { stdout } = await run(process.execPath, ['--expose-gc', script, ...args], {
    timeout: 60_000,
  })
  return stdout
}

describe('memory', () => {
  // A leak of 1 KB per frame would be 10 MB.
  it.each(['samples', 'packets', 'ring'])('does not grow over 10,000 frames of %s', async what => {
    const { bytes, files } = JSON.parse(await exercise('memory', what))
    expect(bytes).toBeLessThan(4 << 20)
    expect(files).toBe(0)
  })

  // A leaked pipeline occupies more than 50 KB.
  it('does not grow over 200 pipelines', async () => {
    const { bytes, files } = JSON.parse(await exercise('memory', 'pipelines'))
    expect(bytes).toBeLessThan(4 << 20)
    expect(files).toBe(0)
  }, 180_000)
})

describe('garbage collection', () => {
  it('frees unreachable objects, but not a running pipeline', async () => {
    expect(await exercise('collection')).toBe('collected\n')
  })
})

describe('pipeline', () => {
  it('can be disposed of in every state', async () => {
    expect(await exercise('teardown', '10')).toBe('disposed\n')
  }, 180_000)

  it.each(['down', 'disposed', 'exit', 'worker-terminated', 'worker-exits'])(
    'does not prevent its process or worker from exiting: %s',
    async way => {
      expect(await exercise('leaving', way)).toBe('left\n')
    },
  )
})
