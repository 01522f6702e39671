import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { readOrCreateSecret } from './secret-file.ts'

const PROCESSES = 4
const FILES = 20

/** Creates the requested secrets, and reports their contents. */
const program = `
import { readOrCreateSecret } from ${JSON.stringify(join(import.meta.dirname, 'secret-file.ts'))}
process.once('message', files => {
  process.send(files.map((file, n) => readOrCreateSecret(file, () => process.pid + ' ' + n)))
  process.disconnect()
})
process.send('ready')`

describe('readOrCreateSecret', () => {
  it('creates a file that only its owner can read, once', () => {
    const file = join(createTemporaryFolder(), 'secrets/key')
    expect(readOrCreateSecret(file, () => 'xyzzy')).toBe('xyzzy')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readOrCreateSecret(file, () => 'plugh')).toBe('xyzzy')
  })

  it('returns the same secret to processes that create it at the same moment', async () => {
    const folder = createTemporaryFolder()
    const script = join(folder, 'create.ts')
    writeFileSync(script, program)
    const secrets = join(folder, 'secrets')
    const files = Array.from({ length: FILES }, (_, n) => join(secrets, String(n)))
    const children = Array.from({ length: PROCESSES }, () => fork(script))
    await Promise.all(children.map(child => once(child, 'message')))
    const results = children.map(child =>
      Promise.race([once(child, 'message'), once(child, 'exit')]),
    )
    for (const child of children) child.send(files)
    const [first, ...others] = (await Promise.all(results)).map(([read]) => read)
    expect(first).toHaveLength(FILES)
    for (const read of others) expect(read).toEqual(first)
    expect(readdirSync(secrets)).toHaveLength(FILES)
  })
})
