import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = promisify(execFile)

/** In a process of its own, so that a crash is the result of a test and memory is what it uses alone. */
async function exercise(name: string, ...args: string[]): Promise<string> {
  const script = join(import.meta.dirname, 'exercise', `${name}.ts`)
  const { stdout } = await run(process.execPath, ['--expose-gc', script, ...args], { timeout: 60_000 })
  return stdout
}

describe('memory', () => {
  // A leak of 1 KB a frame would be 10 MB.
  it.each(['samples', 'ring'])('stays flat over 10,000 frames of %s', async what => {
    const { bytes, files } = JSON.parse(await exercise('memory', what))
    expect(bytes).toBeLessThan(4 << 20)
    expect(files).toBe(0)
  })

  // A pipeline that is left behind holds over 50 KB.
  it('stays flat over 200 pipelines', async () => {
    const { bytes, files } = JSON.parse(await exercise('memory', 'pipelines'))
    expect(bytes).toBeLessThan(4 << 20)
    expect(files).toBe(0)
  }, 60_000)
})

describe('the collector', () => {
  it('takes what is not needed, and nothing that runs', async () => {
    expect(await exercise('collection')).toBe('collected\n')
  })
})

describe('a pipeline', () => {
  it('can be taken down in every state, again and again', async () => {
    expect(await exercise('teardown', '10')).toBe('down\n')
  }, 60_000)

  it.each(['down', 'disposed', 'exit', 'worker-terminated', 'worker-exits'])(
    'lets its process or worker go: %s',
    async way => {
      expect(await exercise('leaving', way)).toBe('left\n')
    },
  )
})
