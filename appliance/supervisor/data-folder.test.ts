import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { needs } from '../../test/fixtures/requirements/needs.ts'
import { root } from '../../test/fixtures/requirements/root.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { getOrCreateSecret, lockDataFolder } from './data-folder.ts'

describe('lockDataFolder', () => {
  it.each(['main', 'engine-only'])('rejects a data folder that a running %s uses', async name => {
    const data = createTemporaryFolder()
    const program = `appliance/${name}.ts`
    const other = spawn(process.execPath, ['-e', 'process.stdin.resume()', program], {
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    await once(other, 'spawn')
    try {
      lockDataFolder(data)
      writeFileSync(join(data, 'supervisor.pid'), String(other.pid))
      expect(() => lockDataFolder(data)).toThrow(
        `already running on ${data} (process ${other.pid})`,
      )
    } finally {
      other.kill('SIGKILL')
      await once(other, 'exit')
    }
  })

  it('takes over the data folder of a supervisor that was killed', () => {
    const data = createTemporaryFolder()
    lockDataFolder(data)
    writeFileSync(join(data, 'supervisor.pid'), '999999999')
    const unlock = lockDataFolder(data)
    unlock()
    expect(() => lockDataFolder(data)).not.toThrow()
  })

  it('says how to take over the data folder of another user', needs(root), () => {
    const data = createTemporaryFolder()
    const script = `
      import { lockDataFolder } from '${join(import.meta.dirname, 'data-folder.ts')}'
      try { lockDataFolder(${JSON.stringify(data)}) } catch ({ message }) { process.stdout.write(message) }`
    chmodSync(data, 0o711)
    const { stdout } = spawnSync(
      process.execPath,
      ['--input-type=module-typescript', '-e', script],
      {
        ...{ uid: 65_534, gid: 65_534, cwd: '/', env: {}, encoding: 'utf8' },
      },
    )
    expect(stdout).toMatch(/belongs to another user: start Eyrie as root, or .*chown -R/)
  })
})

describe('getOrCreateSecret', () => {
  it('generates a secret once, readable only by its owner', () => {
    const data = createTemporaryFolder()
    const generated = getOrCreateSecret(data, 'engine-token')
    expect(generated).toMatch(/^[\w-]{43}$/)
    expect(getOrCreateSecret(data, 'engine-token')).toBe(generated)
    expect(getOrCreateSecret(data, 'internal-token')).not.toBe(generated)
    expect(readdirSync(join(data, 'secrets'))).toEqual(['engine-token', 'internal-token'])
    expect(statSync(join(data, 'secrets/engine-token')).mode & 0o777).toBe(0o600)
  })

  it('replaces a link that waits in the place of a new secret', () => {
    const data = createTemporaryFolder()
    const target = join(data, 'target')
    mkdirSync(join(data, 'secrets'))
    symlinkSync(target, join(data, 'secrets/engine-token.new'))
    getOrCreateSecret(data, 'engine-token')
    expect(existsSync(target)).toBe(false)
  })

  it('regenerates a secret whose file is empty after a power failure', () => {
    const data = createTemporaryFolder()
    mkdirSync(join(data, 'secrets'))
    writeFileSync(join(data, 'secrets/engine-token'), '')
    expect(getOrCreateSecret(data, 'engine-token')).toMatch(/^[\w-]{43}$/)
  })
})
